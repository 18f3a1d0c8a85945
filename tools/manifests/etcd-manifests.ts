/**
 * The file that installs the etcd operator on any cluster:
 * `kubectl apply --server-side -f operators/etcd/manifests/install.yaml`.
 */
import { manifestsYaml } from "@setpoint/cli";
import { etcdOperator, httpGateway } from "@setpoint/etcd-operator";
import { installManifests } from "setpoint/install";
import { ClusterRole } from "setpoint/kinds";
import { operatorImage } from "../image/operator-image.ts";

export const etcdManifestsFile: URL = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url);
/** How Prometheus finds the operator; `operators/etcd/monitoring/kustomization.yaml` has it. */
export const etcdMonitorFile: URL = new URL("../../operators/etcd/monitoring/operator.yaml", import.meta.url);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

const options = { image: operatorImage, namespace: "setpoint-system" };

export function etcdManifests(): string {
  return heading + manifestsYaml(installManifests(etcdOperator(httpGateway(), {}, ""), options));
}

/** The role is for the account of Prometheus. */
export function etcdMonitor(): string {
  const operator = etcdOperator(httpGateway(), {}, "");
  const name = `${operator.name}-operator-metrics`;
  const extras = ["MetricsService", "ServiceMonitor"] as const;
  const monitors = installManifests(operator, { ...options, extras }).slice(-extras.length);
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  return heading + manifestsYaml([...monitors, ClusterRole({ name, rules })]);
}
