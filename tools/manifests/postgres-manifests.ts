/**
 * The file that installs the PostgreSQL operator on any cluster:
 * `kubectl apply --server-side -f operators/postgres/manifests/install.yaml`.
 */
import { findReleaseOperator, manifestsYaml } from "@setpoint/cli";
import { httpsGateway, postgresOperator } from "@setpoint/postgres-operator";
import { installManifests } from "setpoint/install";
import { operatorMonitor } from "./operator-monitor.ts";

export const postgresManifestsFile: URL = new URL("../../operators/postgres/manifests/install.yaml", import.meta.url);
/** How Prometheus finds the operator; `operators/postgres/monitoring/kustomization.yaml` has it. */
export const postgresMonitorFile: URL = new URL("../../operators/postgres/monitoring/operator.yaml", import.meta.url);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

const options = { image: findReleaseOperator("postgres")?.image ?? "", namespace: "setpoint-system" };

export function postgresManifests(): string {
  return heading + manifestsYaml(installManifests(postgresOperator(httpsGateway(), ""), options));
}

export function postgresMonitor(): string {
  return heading + operatorMonitor(postgresOperator(httpsGateway(), ""), options);
}
