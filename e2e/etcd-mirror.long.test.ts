/**
 * An etcd that the operator does not know as its own, with TLS, gives its data to a new cluster, and a mirror
 * follows its writes until clients have moved.
 */
import { Pod, Secret } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import { Backup } from "@setpoint/data-service";
import { EtcdCluster, EtcdMirror } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore, removeStore, restore } from "../examples/etcd/tour/backups.ts";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { type EtcdClient, etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { Playground } from "./etcd/playground.ts";

const namespace = "default";
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const endMsMax = 60_000;
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "256Mi" } } };
const url = `https://outside-client.${namespace}.svc:2379`;
const external = { endpoints: [url], tlsSecret: "outside-client-tls" };
const externalLogin = "data.setpoint.dev/external-login";

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

type External = NonNullable<Backup["spec"]["external"]>;

const backupOf = (name: string): Promise<Backup> => client.get(Backup, { name, namespace });

/** The client certificate is sent only after its Secret has the label. */
async function allowClientTls(cluster: ClusterUnderTour, waiting: string): Promise<void> {
  const command = `kubectl label secret ${external.tlsSecret} --namespace=${namespace} ${externalLogin}=true`;
  const isRefused = async (): Promise<boolean> => (await backupOf(waiting)).status?.message?.includes(command) === true;
  await cluster.until("the refusal of a Secret without the label", isRefused, endMsMax);
  const labels = { [externalLogin]: "true" };
  await client.patch(Secret, { name: external.tlsSecret, namespace }, { metadata: { labels } });
}

/** Resolves when the Backup has ended. */
async function backUp(cluster: ClusterUnderTour, name: string, from: External): Promise<Backup> {
  const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "elsewhere" };
  const spec = { instance, store: "vault", external: from, attempts: 1 };
  await client.create(Backup, Backup({ name, namespace, spec }));
  const hasEnded = async (): Promise<boolean> =>
    ["Succeeded", "Failed"].includes((await backupOf(name)).status?.phase ?? "");
  await cluster.until(`the end of Backup ${name}`, hasEnded, endMsMax);
  return backupOf(name);
}

/** The import, as docs/etcd-import.md has it. */
async function importInto(name: string, cluster: ClusterUnderTour): Promise<ClusterUnderTour> {
  await createStore(cluster, "vault");
  const imported = backUp(cluster, "imported", external);
  await allowClientTls(cluster, "imported");
  const [taken, without, plain] = await Promise.all([
    imported,
    backUp(cluster, "without-tls", { endpoints: [url] }),
    backUp(cluster, "plain", { endpoints: [url.replace("https", "http")] }),
  ]);
  expect(taken.status, JSON.stringify(taken.status)).toMatchObject({ phase: "Succeeded", engineVersion: "3.4.23" });
  expect(without.status?.message).toContain("its certificate is not signed by an authority in ca.crt");
  expect(plain.status?.message).toContain("its URL begins with https");
  const newInstance = { name, spec: { size: 1, version: "3.5.16", volumeClaimTemplate } };
  const moved = await restore(cluster, "move", "imported", { newInstance });
  expect(moved.status, JSON.stringify(moved.status)).toMatchObject({ phase: "Succeeded" });
  const copy = new ClusterUnderTour(client, name, namespace, operator);
  await copy.until("the member of the copy", () => copy.isSettled(1), endMsMax);
  return copy;
}

async function mirrorPods(): Promise<readonly string[]> {
  const { items } = await client.listAll(Pod, { namespace, labelSelector: "etcd.setpoint.dev/mirror" });
  return items.map(({ metadata }) => metadata.name ?? "");
}

const mirrorStatus = async (): Promise<EtcdMirror["status"]> =>
  (await client.get(EtcdMirror, { name: "follow", namespace })).status;

/** All keys of one are in the other with their values, and no others. */
async function untilEqual(cluster: ClusterUnderTour, left: EtcdClient, right: EtcdClient): Promise<void> {
  const isEqual = async (): Promise<boolean> => {
    const keys = await left.keys("app/");
    if (keys.symmetricDifference(await right.keys("app/")).size > 0) return false;
    for (const key of keys) if ((await left.get(key)) !== (await right.get(key))) return false;
    return true;
  };
  await cluster.until("the same keys on both sides", isEqual, endMsMax).catch(async (cause: unknown) => {
    throw new Error(`the mirror is not equal: ${JSON.stringify(await mirrorStatus())}`, { cause });
  });
}

async function mirrorFollows(cluster: ClusterUnderTour, copy: ClusterUnderTour): Promise<void> {
  const [outside, inside] = [
    etcdClient(await cluster.clientEndpoint(), 5_000),
    etcdClient(await copy.clientEndpoint(), 5_000),
  ];
  await outside.put("app/late", "after the snapshot");
  await outside.delete("app/first");
  const spec = { source: { external }, cluster: copy.name, prefix: "app/", existingKeys: "Replace" } as const;
  await client.create(EtcdMirror, EtcdMirror({ name: "follow", namespace, spec }));
  await untilEqual(cluster, outside, inside);
  expect(await inside.get("app/first")).toBeUndefined();

  // It goes on where it was after its pod was killed.
  const isFollowing = async (): Promise<boolean> => (await mirrorStatus())?.phase === "Following";
  await cluster.until("the mirror to follow", isFollowing, endMsMax);
  const [pod = ""] = await mirrorPods();
  await client.delete(Pod, { name: pod, namespace }, { gracePeriodSeconds: 0 });
  for (let index = 0; index < 200; index++) await outside.put(`app/${index}`, `value ${index}`);
  for (let index = 0; index < 100; index++) await outside.delete(`app/${index}`);
  await outside.put("other", "is not copied");
  await untilEqual(cluster, outside, inside);
  expect((await inside.keys("app/")).size).toBe(101);
  expect(await inside.get("other")).toBeUndefined();
  await cluster.until("a report", async () => ((await mirrorStatus())?.revision ?? 0) > 300, endMsMax);
  expect(await mirrorStatus()).toMatchObject({ copies: 1, phase: "Following" });

  await client.delete(EtcdMirror, { name: "follow", namespace });
  const isGone = async (): Promise<boolean> =>
    (await mirrorPods()).length === 0 && (await inside.keys("setpoint.dev/mirrors/")).size === 0;
  await cluster.until("the end of the mirror", isGone, endMsMax);
  expect((await inside.keys("app/")).size).toBe(101);
  outside.close();
  inside.close();
}

test("an etcd 3.4 with TLS becomes a cluster of 3.5, which a mirror keeps equal to it", async () => {
  await playground.tell("outside", { size: 1, version: "3.4.23", tls: { mode: "Enabled" } }, async (cluster) => {
    const outside = etcdClient(await cluster.clientEndpoint(), 5_000);
    await outside.put("app/first", "value");
    outside.close();
    const copy = await importInto("moved", cluster);
    expect(await copy.valueOf("app/first")).toBe("value");
    await mirrorFollows(cluster, copy);
    await client.delete(EtcdCluster, { name: "moved", namespace });
    await removeStore(cluster, "vault");
  });
});
