/**
 * The file that installs the operator that projects bindings into workloads:
 * `kubectl apply --server-side -f operators/etcd/manifests/service-bindings.yaml`.
 */
import { manifestsYaml } from "@setpoint/cli";
import { serviceBindingOperator } from "@setpoint/data-service";
import { installManifests } from "setpoint/install";
import { operatorImage } from "../image/operator-image.ts";

export const bindingManifestsFile: URL = new URL(
  "../../operators/etcd/manifests/service-bindings.yaml",
  import.meta.url,
);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

/** It runs in the image of the etcd operator. */
export function bindingManifests(): string {
  const options = { image: operatorImage, namespace: "setpoint-system", args: ["service-bindings"] };
  return heading + manifestsYaml(installManifests(serviceBindingOperator, options));
}
