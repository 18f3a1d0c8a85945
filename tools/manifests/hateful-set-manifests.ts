/**
 * The file that installs the operator for HatefulSets on any cluster:
 * `kubectl apply --server-side -f operators/hateful-set/manifests/install.yaml`.
 */
import { findReleaseOperator, manifestsYaml } from "@setpoint/cli";
import { hatefulSetOperator } from "../../operators/hateful-set/src/index.ts";
import { installManifests } from "setpoint/install";

export const hatefulSetManifestsFile: URL = new URL(
  "../../operators/hateful-set/manifests/install.yaml",
  import.meta.url,
);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

export function hatefulSetManifests(): string {
  const image = findReleaseOperator("hateful-set")?.image ?? "";
  return heading + manifestsYaml(installManifests(hatefulSetOperator(), { image, namespace: "setpoint-system" }));
}
