/**
 * Backups of a real etcd by the installed operator: to a claim, verified, refused when the stored file is damaged, restored into a new cluster and
 * in place, and taken on a schedule with retention.
 */
import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import type { Client, KindRef } from "@setpoint/client";
import { agentPaths } from "@setpoint/data-service/agent";
import { Backup, BackupPlan, BackupStore, Restore } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { operatorImage } from "../tools/image/operator-image.ts";
import { Playground } from "./etcd/playground.ts";

const namespace = "default";
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const volume = {
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "256Mi" } } },
} as const;
const endMsMax = 90_000;

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

/** A store for one story; the playground finds what is left of it. */
async function createStore(): Promise<void> {
  const spec = { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage: "256Mi" } } };
  await client.create(PersistentVolumeClaim, PersistentVolumeClaim({ name: "vault", namespace, spec }));
  await client.create(BackupStore, BackupStore({ name: "vault", namespace, spec: { claim: { claimName: "vault" } } }));
}

/** The Backups delete what they have stored; only then the store may go. */
async function removeStore(): Promise<void> {
  for (const kind of [Restore, Backup] as readonly KindRef[]) {
    for (const { metadata } of (await client.listAll(kind, { namespace })).items)
      await client.delete(kind, { name: metadata.name, namespace });
    for (
      const until = Date.now() + endMsMax;
      (await client.listAll(kind, { namespace })).items.length > 0;
      await pause()
    )
      if (Date.now() > until) throw new Error(`a ${kind.kind} is not deleted`);
  }
  await client.delete(BackupStore, { name: "vault", namespace });
  await client.delete(PersistentVolumeClaim, { name: "vault", namespace });
}

type Ended = Backup | Restore;

async function ended<T extends Ended>(kind: Parameters<Client["get"]>[0], name: string): Promise<T> {
  for (const until = Date.now() + endMsMax; ;) {
    const object = (await client.get(kind, { name, namespace })) as unknown as T;
    const { phase = "" } = object.status ?? {};
    if (phase === "Succeeded" || phase === "Failed") return object;
    if (Date.now() > until) throw new Error(`${kind.kind} "${name}" did not end: ${JSON.stringify(object.status)}`);
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}

function instance(name: string): { apiGroup: string; kind: string; name: string } {
  return { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name };
}

async function backUp(cluster: string, name: string): Promise<Backup> {
  await client.create(Backup, Backup({ name, namespace, spec: { instance: instance(cluster), store: "vault" } }));
  return ended<Backup>(Backup, name);
}

async function restore(name: string, spec: Parameters<typeof Restore>[0]["spec"]): Promise<Restore> {
  await client.create(Restore, Restore({ name, namespace, spec }));
  return ended<Restore>(Restore, name);
}

/** Runs a script of Node in a pod that has the store. */
async function inStore(name: string, text: string): Promise<void> {
  await client.create(
    Pod,
    Pod({
      name,
      namespace,
      spec: {
        restartPolicy: "Never",
        securityContext: { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 },
        volumes: [{ name: "store", persistentVolumeClaim: { claimName: "vault" } }],
        containers: [
          {
            name: "script",
            image: operatorImage,
            command: ["node", "-e", text],
            volumeMounts: [{ name: "store", mountPath: agentPaths.storeClaim }],
          },
        ],
      },
    }),
  );
  for (let phase = ""; phase !== "Succeeded"; await pause()) {
    phase = (await client.get(Pod, { name, namespace })).status?.phase ?? "";
    if (phase === "Failed") throw new Error(`the script of pod ${name} failed`);
  }
}

async function podUids(cluster: ClusterUnderTour): Promise<ReadonlySet<string | undefined>> {
  return new Set((await cluster.pods()).map(({ metadata }) => metadata.uid));
}

async function put(cluster: ClusterUnderTour, value: string): Promise<void> {
  const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
  await etcd.put("key", value);
  etcd.close();
}

test.each(["3.4.23", "3.5.16"] as const)(
  "a cluster of etcd %s is backed up, restored into a new one and in place, and nothing is touched for damaged data",
  async (version) => {
    const name = `v${version.replaceAll(".", "-")}`;
    const story = async (cluster: ClusterUnderTour): Promise<void> => {
      await createStore();
      await put(cluster, "first");
      const backup = await backUp(name, `${name}-good`);
      expect(backup.status, JSON.stringify(backup.status)).toMatchObject({
        phase: "Succeeded",
        engineVersion: version,
      });
      await put(cluster, "second");
      const { clusterID } = (await cluster.get()).status ?? {};

      // into a new cluster
      const source = { backup: `${name}-good` };
      const copyName = `${name}-copy`;
      const copied = await restore(`${name}-new`, {
        instance: instance(name),
        source,
        newInstance: { name: copyName },
      });
      expect(copied.status, JSON.stringify(copied.status)).toMatchObject({ phase: "Succeeded" });
      const copy = new ClusterUnderTour(client, copyName, namespace, operator);
      await copy.until("all members of the copy", () => copy.isSettled(3), endMsMax);
      expect(await copy.valueOf("key")).toBe("first");
      expect(await cluster.valueOf("key")).toBe("second");
      expect((await copy.get()).status?.clusterID).not.toBe(clusterID);
      await client.delete(EtcdCluster, { name: copyName, namespace });

      // in place
      const inPlace = await restore(`${name}-in-place`, { instance: instance(name), source, inPlace: {} });
      expect(inPlace.status, JSON.stringify(inPlace.status)).toMatchObject({ phase: "Succeeded" });
      console.log(`etcd ${version}: restored in place within ${inPlace.status?.recoverySeconds} s`);
      await cluster.until("all members on the restored data", () => cluster.isSettled(3), endMsMax);
      expect(await cluster.valueOf("key")).toBe("first");
      expect((await cluster.get()).status?.clusterID).not.toBe(clusterID);

      // what is damaged restores nothing, and touches nothing
      const file = `${agentPaths.storeClaim}/${backup.status?.object}/00000001`;
      await inStore(
        `${name}-damage`,
        `const fs=require("fs");const b=fs.readFileSync("${file}");b[b.length>>1]^=1;fs.writeFileSync("${file}",b)`,
      );
      const before = await podUids(cluster);
      const refused = await restore(`${name}-refused`, { instance: instance(name), source, inPlace: {} });
      expect(refused.status).toMatchObject({ phase: "Failed" });
      expect(refused.status?.message).toContain("BackupDamaged");
      expect(await podUids(cluster)).toEqual(before);
      await client.delete(Pod, { name: `${name}-damage`, namespace });
      await removeStore();
    };
    await playground.tell(name, { size: 3, version, ...volume }, story, { losesWrites: true });
  },
);

test("a plan takes a backup every few seconds, and keeps the newest two", async () => {
  await playground.tell("planned", { size: 1, version: "3.5.16", ...volume }, async (cluster) => {
    await createStore();
    await put(cluster, "planned");
    const spec = {
      ...{ instance: instance("planned"), store: "vault", schedule: "*/4 * * * * *" },
      retention: { keepLast: 2 },
    };
    await client.create(BackupPlan, BackupPlan({ name: "often", namespace, spec }));
    const plan = (): Promise<BackupPlan> => client.get(BackupPlan, { name: "often", namespace });
    const { items: first } = await client.listAll(Backup, { namespace, labelSelector: "data.setpoint.dev/plan=often" });
    const seen = new Set(first.map(({ metadata }) => metadata.name));
    for (const until = Date.now() + endMsMax; seen.size < 5; await pause()) {
      const { items } = await client.listAll(Backup, { namespace, labelSelector: "data.setpoint.dev/plan=often" });
      for (const { metadata } of items) seen.add(metadata.name);
      if (Date.now() > until) throw new Error(`only ${seen.size} backups: ${JSON.stringify((await plan()).status)}`);
    }
    await client.patch(BackupPlan, { name: "often", namespace }, { spec: { suspend: true } });
    const isAtRest = async (): Promise<boolean> => {
      const { items } = await client.listAll(Backup, { namespace, labelSelector: "data.setpoint.dev/plan=often" });
      return items.length === 2 && items.every(({ status }) => status?.phase === "Succeeded");
    };
    for (const until = Date.now() + endMsMax; !(await isAtRest()); await pause())
      if (Date.now() > until) throw new Error(`more than two are left: ${JSON.stringify((await plan()).status)}`);
    expect((await plan()).status).toMatchObject({ goodBackups: 2, message: "the plan is suspended" });
    await client.delete(BackupPlan, { name: "often", namespace });
    await removeStore();
  });
});
