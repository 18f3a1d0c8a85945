import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const template = `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {greeting: "{{ .Values.greeting }}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: 0
  selector: {matchLabels: {app: tiny}}
  template: {metadata: {labels: {app: tiny}}, spec: {containers: [{name: main, image: "nginx:1"}]}}
`;

/** Writes a Helm chart of two objects below `folder`; resolves to its path. */
export function writeTinyChart(folder: string): string {
  const chart = join(folder, "tiny");
  mkdirSync(join(chart, "templates"), { recursive: true });
  writeFileSync(join(chart, "Chart.yaml"), "apiVersion: v2\nname: tiny\nversion: 0.1.0\n");
  writeFileSync(join(chart, "values.yaml"), "greeting: hello\n");
  writeFileSync(join(chart, "templates", "all.yaml"), template);
  return chart;
}
