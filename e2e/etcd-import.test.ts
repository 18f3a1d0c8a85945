/** An etcd that the operator does not know as its own, with TLS, gives its data to a new cluster. */
import type { Client } from "@setpoint/client";
import { Backup } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore, removeStore, restore } from "../examples/etcd/tour/backups.ts";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { Playground } from "./etcd/playground.ts";

const namespace = "default";
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const endMsMax = 60_000;
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "256Mi" } } };

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

type External = NonNullable<Backup["spec"]["external"]>;

/** Resolves when the Backup has ended, or has a reason why its first attempt failed. */
async function backUp(cluster: ClusterUnderTour, name: string, external: External): Promise<Backup> {
  const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "elsewhere" };
  await client.create(Backup, Backup({ name, namespace, spec: { instance, store: "vault", external, attempts: 1 } }));
  const read = (): Promise<Backup> => client.get(Backup, { name, namespace });
  const hasEnded = async (): Promise<boolean> => ["Succeeded", "Failed"].includes((await read()).status?.phase ?? "");
  await cluster.until(`the end of Backup ${name}`, hasEnded, endMsMax);
  return read();
}

test("an etcd 3.4 with TLS becomes a cluster of 3.5, and what is missing to reach it is reported", async () => {
  await playground.tell("outside", { size: 1, version: "3.4.23", tls: { mode: "Enabled" } }, async (cluster) => {
    await createStore(cluster, "vault");
    const outside = etcdClient(await cluster.clientEndpoint(), 5_000);
    await outside.put("key", "value");
    outside.close();
    const url = `https://outside-client.${namespace}.svc:2379`;

    const [taken, without, plain] = await Promise.all([
      backUp(cluster, "imported", { endpoints: [url], tlsSecret: "outside-client-tls" }),
      backUp(cluster, "without-tls", { endpoints: [url] }),
      backUp(cluster, "plain", { endpoints: [url.replace("https", "http")] }),
    ]);
    expect(taken.status, JSON.stringify(taken.status)).toMatchObject({ phase: "Succeeded", engineVersion: "3.4.23" });
    expect(without.status?.message).toContain("its certificate is not one that ca.crt vouches for");
    expect(plain.status?.message).toContain("its URL begins with https");

    const newInstance = { name: "moved", spec: { size: 1, version: "3.5.16", volumeClaimTemplate } };
    const moved = await restore(cluster, "move", "imported", { newInstance });
    expect(moved.status, JSON.stringify(moved.status)).toMatchObject({ phase: "Succeeded" });
    const copy = new ClusterUnderTour(client, "moved", namespace, operator);
    await copy.until("the member of the copy", () => copy.isSettled(1), endMsMax);
    expect(await copy.valueOf("key")).toBe("value");
    await client.delete(EtcdCluster, { name: "moved", namespace });
    await removeStore(cluster, "vault");
  });
});
