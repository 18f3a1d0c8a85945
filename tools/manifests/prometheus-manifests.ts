/**
 * The file that installs the operator for Prometheus on any cluster:
 * `kubectl apply --server-side -f operators/prometheus/manifests/install.yaml`.
 */
import { findReleaseOperator, manifestsYaml } from "@setpoint/cli";
import { httpLoadedGateway, prometheusOperator } from "@setpoint/prometheus-operator";
import { installManifests } from "setpoint/install";

export const prometheusManifestsFile: URL = new URL(
  "../../operators/prometheus/manifests/install.yaml",
  import.meta.url,
);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

export function prometheusManifests(): string {
  const image = findReleaseOperator("prometheus")?.image ?? "";
  const operator = prometheusOperator(httpLoadedGateway, { image: "", options: {} });
  return heading + manifestsYaml(installManifests(operator, { image, namespace: "setpoint-system" }));
}
