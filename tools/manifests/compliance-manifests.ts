/**
 * The file that installs the operator for ComplianceProbe on any cluster:
 * `kubectl apply --server-side -f operators/compliance-probe/manifests/install.yaml`.
 */
import { findReleaseOperator, manifestsYaml } from "@setpoint/cli";
import { complianceOperator } from "../../operators/compliance-probe/src/index.ts";
import { installManifests } from "setpoint/install";

export const complianceManifestsFile: URL = new URL(
  "../../operators/compliance-probe/manifests/install.yaml",
  import.meta.url,
);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

export function complianceManifests(): string {
  const image = findReleaseOperator("compliance-probe")?.image ?? "";
  return heading + manifestsYaml(installManifests(complianceOperator(image), { image, namespace: "setpoint-system" }));
}
