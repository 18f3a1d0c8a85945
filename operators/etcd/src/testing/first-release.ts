/**
 * The objects of a cluster of three as the first release of the operator wrote them (before certificates, and
 * before pods had an annotation with their template). Only tests import this.
 */
import { readFileSync } from "node:fs";
import type { KubeObject } from "setpoint";
import { PersistentVolumeClaim, Pod, Service } from "setpoint/kinds";
import type { EtcdModel, World } from "setpoint/testing";
import { EtcdCluster } from "../kind/etcd-cluster.ts";

const file = new URL("objects-of-first-release.json", import.meta.url);
const uidPlaceholder = "CLUSTER_UID";

function read(uid: string): readonly KubeObject[] {
  return JSON.parse(readFileSync(file, "utf8").replaceAll(uidPlaceholder, uid)) as readonly KubeObject[];
}

/** Its spec and its status, as they were stored. */
export function clusterOfFirstRelease(): EtcdCluster {
  return read("").find((object): object is EtcdCluster => object.kind === EtcdCluster.kind) ?? neverThere();
}

const childKinds = [PersistentVolumeClaim, Service, Pod] as const;

/** Creates the objects, and waits until the members serve. No operator may run meanwhile. */
export async function placeFirstRelease(world: World, etcd: EtcdModel): Promise<void> {
  const { spec, status, metadata } = clusterOfFirstRelease();
  const { metadata: stored } = await world.wait(
    world.client.create(EtcdCluster, { ...EtcdCluster({ name: metadata.name ?? "", spec }) }),
  );
  await world.wait(
    world.client.patch(EtcdCluster, { name: "orders", namespace: "default" }, { status }, { subresource: "status" }),
  );
  const children = childrenOfFirstRelease(stored.uid);
  for (const kind of childKinds)
    for (const child of children.filter((each) => each.kind === kind.kind))
      await world.wait(world.client.create<KubeObject>(kind, child));
  await world.until(
    "the start of the members",
    () => etcd.leader("orders") !== undefined && etcd.members("orders").length === 3,
  );
}

/** Claims, Services and pods; the server gives each EtcdCluster its own UID. */
function childrenOfFirstRelease(uid: string): readonly KubeObject[] {
  return read(uid).filter(({ kind }) => kind !== EtcdCluster.kind);
}

function neverThere(): never {
  throw new Error(`${file.pathname} has no EtcdCluster`);
}
