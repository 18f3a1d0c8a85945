/** The operator takes over a cluster of real etcd whose objects an earlier release of it has written. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PersistentVolumeClaim, Pod, Service } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { readFileSync } from "node:fs";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { LedgerWriter } from "../examples/etcd/tour/ledger-writer.ts";
import { checkHashes } from "../examples/etcd/tour/steps.ts";
import { Playground } from "./etcd/playground.ts";

const file = new URL("../operators/etcd/src/testing/objects-of-first-release.json", import.meta.url);
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const place = { name: "orders", namespace: "default" };
const startMsMax = 120_000;
const changeMsMax = 90_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

function stored(uid: string): readonly KubeObject[] {
  return JSON.parse(readFileSync(file, "utf8").replaceAll("CLUSTER_UID", uid)) as readonly KubeObject[];
}

/** Everything as the earlier release left it, while no operator runs. */
async function leaveAsFirstRelease(cluster: ClusterUnderTour): Promise<void> {
  const { client } = playground;
  await cluster.scaleOperator(0);
  const selector = { namespace: operator.namespace, labelSelector: `app.kubernetes.io/name=${operator.name}` };
  await cluster.until("the end of the operator", async () => (await client.listAll(Pod, selector)).items.length === 0);
  const old = stored("").find(({ kind }) => kind === EtcdCluster.kind) as EtcdCluster;
  const { metadata } = await client.create(EtcdCluster, EtcdCluster({ ...place, spec: old.spec }));
  for (const kind of [PersistentVolumeClaim, Service, Pod])
    for (const object of stored(metadata.uid).filter((each) => each.kind === kind.kind))
      await client.create<KubeObject>(kind, object);
  const members = async (): Promise<readonly { readonly name: string; readonly id: string }[]> =>
    cluster.etcdMembers().catch(() => []);
  await cluster.until(
    "the start of etcd",
    async () => (await members()).filter(({ name }) => name !== "").length === 3,
    startMsMax,
  );
  const ids = new Map((await members()).map(({ name, id }) => [name, id]));
  const { clusterID: _, ...status } = old.status ?? ({} as NonNullable<EtcdCluster["status"]>);
  const named = status.members.map((each) => ({ ...each, id: ids.get(each.name) }));
  await client.patch(EtcdCluster, place, { status: { ...status, members: named } }, { subresource: "status" });
}

async function uids(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
}

test("a cluster of an earlier release goes on in its pods, takes changes one member at a time, and loses no write", async () => {
  const cluster = new ClusterUnderTour(playground.client, place.name, place.namespace, operator);
  await leaveAsFirstRelease(cluster);
  const before = await uids(cluster);
  await using writer = new LedgerWriter(await cluster.clientEndpoint());
  await cluster.scaleOperator(1);
  const isTaken = async (): Promise<boolean> => {
    const { status } = await cluster.get();
    // Only this release reports it.
    const reports = status?.conditions?.some((each) => each["type"] === "VersionMaintained") === true;
    return reports && (await cluster.isSettled(3));
  };
  await cluster.until("the take-over", isTaken, changeMsMax);
  // Longer than two full passes.
  await new Promise((resolve) => setTimeout(resolve, 25_000));
  expect(await uids(cluster)).toEqual(before);
  expect((await cluster.get()).status?.tls).toBeUndefined();

  await cluster.patch({ version: "3.5.16", options: { "snapshot-count": "6000" } });
  const isChanged = async (): Promise<boolean> =>
    (await cluster.get()).status?.currentVersion === "3.5.16" && (await cluster.isSettled(3));
  await cluster.until("the change", isChanged, changeMsMax);
  expect((await uids(cluster)).filter((uid) => before.includes(uid))).toEqual([]);
  const flags = (await cluster.pods()).flatMap(({ spec }) => spec?.containers[0]?.args ?? []);
  expect(flags.filter((flag) => flag === "--snapshot-count=6000")).toHaveLength(3);
  await checkHashes(cluster, 3);
  const { acknowledged, lost } = await writer.finish();
  expect(lost).toEqual([]);
  expect(acknowledged).toBeGreaterThan(100);
  console.log(`${acknowledged} writes acknowledged during the take-over and the change, ${lost.length} lost`);
});
