/** The file that installs the etcd operator on any cluster: `kubectl apply --server-side -f operators/etcd/manifests/install.yaml`. */
import { etcdOperator, httpGateway } from "@setpoint/etcd-operator";
import { installManifests } from "setpoint";
import { stringify } from "yaml";
import { operatorImage } from "../image/operator-image.ts";

export const etcdManifestsFile: URL = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

export function etcdManifests(): string {
  const objects = installManifests(etcdOperator(httpGateway()), { image: operatorImage, namespace: "setpoint-system" });
  // Neither anchors nor folded lines: a person greps this file, and a diff shows what changed.
  const documents = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }));
  return heading + documents.join("---\n");
}
