/** A real agent that scrapes an application, and sends the samples to a real Prometheus. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { PrometheusPlayground } from "./playground.ts";

/** Discovery, a scrape each 30 s, and a send each 5 s. */
const sent = { timeout: 180_000, interval: 1_000 };

let playground: PrometheusPlayground;

beforeAll(async () => {
  playground = await PrometheusPlayground.open();
});

afterAll(async () => {
  await playground?.[Symbol.asyncDispose]();
});

function agent(name: string, spec: object): object {
  return {
    apiVersion: "monitoring.coreos.com/v1alpha1",
    kind: "PrometheusAgent",
    metadata: { name },
    spec: {
      ...spec,
      serviceAccountName: "prometheus",
      scrapeInterval: "5s",
      remoteWrite: [{ url: "http://prometheus-operated:9090/api/v1/write" }],
    },
  };
}

/** Whether the agent has sent the metric of the application: each has its name among the labels. */
function samplesOf(name: string): Promise<string | undefined> {
  return playground.query(`count(version{prometheus="default/${name}"})`);
}

test("a Prometheus takes what is written to it", async () => {
  await playground.applyUpstream("prometheus-service-account", "prometheus-cluster-role");
  await playground.applyUpstream("prometheus-cluster-role-binding");
  await playground.apply({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "Prometheus",
    metadata: { name: "receiver" },
    spec: { serviceMonitorSelector: { matchLabels: { team: "nobody" } }, enableRemoteWriteReceiver: true },
  });
  await playground.wait("--for=condition=Available prometheus/receiver", 300);
});

test("an agent scrapes what its monitors select, and sends the samples", async () => {
  await playground.applyUpstream("example-app-deployment", "example-app-service", "example-app-service-monitor");
  await playground.apply(agent("main", { serviceMonitorSelector: { matchLabels: { team: "frontend" } } }));
  await playground.wait("--for=condition=Available prometheusagent/main", 300);
  await playground.wait("--for=condition=ConfigurationLoaded prometheusagent/main", 120);
  await expect.poll(() => samplesOf("main"), sent).toBe("3");
  expect(await playground.query("count(version)")).toBe("3");
});

test("an agent on each node scrapes the pods of its node", async () => {
  await playground.applyUpstream("example-app-pod-monitor");
  const selector = { podMonitorSelector: { matchLabels: { team: "frontend" } } };
  await playground.apply(agent("nodes", { mode: "DaemonSet", ...selector }));
  await playground.wait("--for=condition=Available prometheusagent/nodes", 300);
  await playground.wait("--for=condition=ConfigurationLoaded prometheusagent/nodes", 120);
  await expect.poll(() => samplesOf("nodes"), sent).toBe("3");
});

test("a changed monitor is loaded, and no pod restarts", async () => {
  const pod = "get pod prom-agent-main-0 -o jsonpath={.metadata.uid}{.status.containerStatuses[*].restartCount}";
  const before = await playground.kubectl.ok(pod);
  const file = new URL("fixtures/example-app-service-monitor.yaml", import.meta.url);
  const monitor = parse(readFileSync(file, "utf8")) as { spec: { endpoints: object[] } };
  const relabelings = [{ targetLabel: "renamed", replacement: "yes" }];
  const endpoints = monitor.spec.endpoints.map((endpoint) => ({ ...endpoint, relabelings }));
  await playground.apply({ ...monitor, spec: { ...monitor.spec, endpoints } });
  await expect.poll(() => playground.query('count(version{renamed="yes"})'), sent).toBe("3");
  expect(await playground.kubectl.ok(pod)).toBe(before);
});
