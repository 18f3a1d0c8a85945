/**
 * The file that installs the etcd operator on any cluster:
 * `kubectl apply --server-side -f operators/etcd/manifests/install.yaml`.
 */
import { manifestsYaml } from "@setpoint/cli";
import { etcdOperator, httpGateway } from "@setpoint/etcd-operator";
import { installManifests } from "setpoint/install";
import { operatorImage } from "../image/operator-image.ts";
import { operatorMonitor } from "./operator-monitor.ts";

export const etcdManifestsFile: URL = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url);
/** How Prometheus finds the operator; `operators/etcd/monitoring/kustomization.yaml` has it. */
export const etcdMonitorFile: URL = new URL("../../operators/etcd/monitoring/operator.yaml", import.meta.url);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

const options = { image: operatorImage, namespace: "setpoint-system" };

export function etcdManifests(): string {
  return heading + manifestsYaml(installManifests(etcdOperator(httpGateway(), {}, ""), options));
}

export function etcdMonitor(): string {
  return heading + operatorMonitor(etcdOperator(httpGateway(), {}, ""), options);
}
