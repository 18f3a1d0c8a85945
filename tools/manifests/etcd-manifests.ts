/**
 * The file that installs the etcd operator on any cluster:
 * `kubectl apply --server-side -f operators/etcd/manifests/install.yaml`.
 */
import { manifestsYaml } from "@setpoint/cli";
import { etcdOperator, httpGateway } from "@setpoint/etcd-operator";
import { installManifests } from "setpoint/install";
import { operatorImage } from "../image/operator-image.ts";

export const etcdManifestsFile: URL = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

export function etcdManifests(): string {
  return (
    heading +
    manifestsYaml(
      installManifests(etcdOperator(httpGateway(), {}, ""), { image: operatorImage, namespace: "setpoint-system" }),
    )
  );
}
