/**
 * The objects of a cluster of three as the first release of the operator wrote them (before certificates, and
 * before pods had an annotation with their template). Only tests import this.
 */
import { readFileSync } from "node:fs";
import type { KubeObject } from "setpoint";
import { EtcdCluster } from "../etcd-cluster.ts";

const file = new URL("objects-of-first-release.json", import.meta.url);
const uidPlaceholder = "CLUSTER_UID";

function read(uid: string): readonly KubeObject[] {
  return JSON.parse(readFileSync(file, "utf8").replaceAll(uidPlaceholder, uid)) as readonly KubeObject[];
}

/** Its spec and its status, as they were stored. */
export function clusterOfFirstRelease(): EtcdCluster {
  return read("").find((object): object is EtcdCluster => object.kind === EtcdCluster.kind) ?? neverThere();
}

/** Claims, Services and pods; the server gives each EtcdCluster its own UID. */
export function childrenOfFirstRelease(uid: string): readonly KubeObject[] {
  return read(uid).filter(({ kind }) => kind !== EtcdCluster.kind);
}

function neverThere(): never {
  throw new Error(`${file.pathname} has no EtcdCluster`);
}
