/** Backups and restores of etcd clusters in the simulated world. */
import { Backup, Restore, simulatedIssuer } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { minutes } from "setpoint";
import { EtcdModel, simulate, simulatedOperatorImage, TransferModel, type World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { claims, cluster, podUids } from "./testing/etcd-stage.ts";
import { vault } from "./testing/store-vault.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

interface Stage {
  readonly world: World;
  readonly etcd: EtcdModel;
  readonly transfers: TransferModel;
}

const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };
const source = { instance, source: { backup: "first" } };

/** A cluster whose key "a" was 1 in the backup and is 2 now. */
async function setUp(seed: number, spec: Partial<EtcdCluster["spec"]> = claims): Promise<Stage> {
  const etcd = new EtcdModel();
  // A restore in place stops all members on purpose.
  etcd.mayStopAll = true;
  const transfers = new TransferModel({
    etcd: (from) => etcd.snapshot((from as { readonly endpoints: readonly string[] }).endpoints),
  });
  const world = await simulate({
    seed,
    models: [etcd, transfers],
    operators: [
      (process) => etcdOperator(simulatedGateway(etcd, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
  });
  for (const object of vault) await world.apply(object);
  await world.apply(cluster("orders", spec));
  await world.settled();
  const stage = { world, etcd, transfers };
  await put(stage, "1");
  await world.apply(Backup({ name: "first", spec: { instance, store: "vault" } }));
  await world.settled();
  expect((await world.get(Backup, "first")).status).toMatchObject({ phase: "Succeeded", engineVersion: "3.4.23" });
  await put(stage, "2");
  return stage;
}

async function put({ world, etcd }: Stage, value: string): Promise<void> {
  await world.wait(etcd.put(endpoint(etcd, "orders"), "a", value));
}

function endpoint(etcd: EtcdModel, name: string): string {
  const [member] = etcd.members(name).filter(({ isServing }) => isServing);
  return `http://${member?.launch.podIp}:2379`;
}

async function keysOf({ world, etcd }: Stage, name: string): Promise<object> {
  return Object.fromEntries(await world.wait(etcd.keys(endpoint(etcd, name))));
}

/** All members serve TLS and nothing else. */
async function expectTls({ world }: Stage): Promise<void> {
  const pods = (await world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith("orders-"));
  expect(pods.length).toBe(3);
  for (const { spec } of pods) {
    const args = spec?.containers[0]?.args?.join(" ") ?? "";
    expect(args).toMatch(/--listen-client-urls=https:/);
    expect(args).toContain("--client-cert-auth=true");
    expect(args).not.toMatch(/(client|peer)-urls=http:/);
  }
}

const statusOf = async ({ world }: Stage): Promise<Restore["status"]> => (await world.get(Restore, "back")).status;
const volumes = async ({ world }: Stage): Promise<readonly string[]> =>
  (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name).filter((name) => name !== "vault");

describe("a restore of etcd", () => {
  test("into a new cluster has the keys, a cluster ID of its own and all members", async () => {
    const stage = await setUp(1);
    const { world, etcd } = stage;
    await using _ = world;
    await world.apply(Restore({ name: "back", spec: { ...source, newInstance: { name: "copy" } } }));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
    expect(await keysOf(stage, "copy")).toEqual({ a: "1" });
    expect(await keysOf(stage, "orders")).toEqual({ a: "2" });
    const [before, after] = [await world.get(EtcdCluster, "orders"), await world.get(EtcdCluster, "copy")];
    expect(after.status).toMatchObject({ phase: "Running", size: 3, readyMembers: 3 });
    expect(after.status?.clusterID).not.toBe(before.status?.clusterID);
    expect(etcd.violations).toEqual([]);
    await world.expectQuiet();
  });

  test("in place waits while a member is fenced, and says so; the cluster is served meanwhile", async () => {
    const stage = await setUp(21);
    const { world } = stage;
    await using _ = world;
    const [fenced = ""] = (await world.get(EtcdCluster, "orders")).status?.members.map(({ name }) => name) ?? [];
    await world.patch(EtcdCluster, "orders", { spec: { fencing: { members: [fenced] } } });
    await world.run(minutes(1));
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
    await world.run(minutes(5));
    expect((await statusOf(stage))?.message).toMatch(
      new RegExp(`^the members are stopping: member ${fenced} is fenced; .*; until then restore .* waits`),
    );
    expect((await world.get(EtcdCluster, "orders")).status).toMatchObject({ phase: "Fenced", readyMembers: 2 });
    expect(await keysOf(stage, "orders")).toEqual({ a: "2" });
    await world.patch(EtcdCluster, "orders", { spec: { fencing: null } });
    await world.settled({ within: minutes(10) });
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
    expect(await keysOf(stage, "orders")).toEqual({ a: "1" });
  });

  test("of a cluster with a plan is on volumes of that plan, in a new cluster and in place", async () => {
    const stage = await setUp(9, { plan: "small", size: 1 });
    const { world } = stage;
    await using _ = world;
    await world.apply(Restore({ name: "new", spec: { ...source, newInstance: { name: "copy" } } }));
    await world.settled();
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
    await world.settled();
    expect([await keysOf(stage, "copy"), await keysOf(stage, "orders")]).toEqual([{ a: "1" }, { a: "1" }]);
    const sizes = (await world.list(PersistentVolumeClaim)).map(({ spec }) => spec?.resources?.requests?.["storage"]);
    // The volume of the store, that of the copy, and those of before and after in place.
    expect(sizes).toHaveLength(4);
    expect(sizes.filter((size) => size === "4Gi")).toHaveLength(3);
    expect((await world.get(EtcdCluster, "copy")).status?.plan?.name).toBe("small");
  });

  test("into a cluster without volumes is refused before anything is created", async () => {
    const stage = await setUp(2);
    const { world } = stage;
    await using _ = world;
    const from = (await world.get(Backup, "first")).status?.object ?? "";
    await world.apply(
      Restore({
        name: "back",
        spec: {
          instance: { ...instance, name: "gone" },
          source: { stored: { store: "vault", object: from } },
          newInstance: { name: "copy", spec: { size: 3, version: "3.4.23" } },
        },
      }),
    );
    await world.settled();
    expect((await statusOf(stage))?.message).toContain("no volumeClaimTemplate");
    expect((await world.list(EtcdCluster)).length).toBe(1);
  });

  test("in place replaces the data of all members, and keeps the volumes from before", async () => {
    const stage = await setUp(3);
    const { world, etcd } = stage;
    await using _ = world;
    const before = (await world.get(EtcdCluster, "orders")).status?.clusterID;
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {}, keepPreviousFor: "1h" } }));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded", safetyBackup: "back-safety" });
    expect(await keysOf(stage, "orders")).toEqual({ a: "1" });
    expect((await world.get(EtcdCluster, "orders")).status?.clusterID).not.toBe(before);
    expect((await volumes(stage)).length).toBe(6);
    await world.delete(Restore, "back");
    await world.settled();
    expect((await volumes(stage)).length).toBe(3);
    await world.expectQuiet();
    expect(etcd.violations).toEqual([]);
    expect((await world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith("orders-")).length).toBe(3);
  });

  test("in place leaves a cluster with TLS one with TLS", async () => {
    const stage = await setUp(7, { ...claims, tls: { mode: "Enabled" } });
    const { world, etcd } = stage;
    await using _ = world;
    const { tls } = (await world.get(EtcdCluster, "orders")).status ?? {};
    expect(tls).toMatchObject({ clientSecret: "orders-client-tls" });
    // At no moment anybody may see that the cluster has none: clients and backups take their scheme from it.
    const seen = new Set<string>();
    const isIn = async (phase: string): Promise<boolean> => {
      seen.add(JSON.stringify((await world.get(EtcdCluster, "orders")).status?.tls));
      return (await statusOf(stage))?.phase === phase;
    };
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
    await world.until("it is restored", () => isIn("Succeeded"));
    await world.settled();
    expect(await keysOf(stage, "orders")).toEqual({ a: "1" });
    await expectTls(stage);
    expect([...seen]).toEqual([JSON.stringify(tls)]);
    expect(etcd.violations).toEqual([]);
  });

  test("in place from a damaged backup touches nothing of the instance", async () => {
    const stage = await setUp(8);
    const { world, transfers } = stage;
    await using _ = world;
    const uids = await podUids(stage);
    transfers.vault.damage();
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
    await world.settled();
    expect((await statusOf(stage))?.phase).toBe("Failed");
    expect((await statusOf(stage))?.message).toContain("BackupDamaged");
    expect((await podUids(stage)).filter((uid) => uids.includes(uid))).toEqual(uids);
    expect(await keysOf(stage, "orders")).toEqual({ a: "2" });
    await world.expectQuiet();
  });

  test("in place goes back to the members from before when the data are damaged after the stop", async () => {
    const stage = await setUp(4);
    const { world, transfers } = stage;
    await using _ = world;
    const before = (await world.get(EtcdCluster, "orders")).status?.clusterID;
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
    await world.until("it prepares", async () => (await statusOf(stage))?.phase === "Preparing");
    transfers.vault.damage();
    await world.settled();
    expect((await statusOf(stage))?.message).toContain("the instance runs on its previous data");
    expect(await keysOf(stage, "orders")).toEqual({ a: "2" });
    expect((await world.get(EtcdCluster, "orders")).status?.clusterID).toBe(before);
    expect((await volumes(stage)).length).toBe(3);
    await world.expectQuiet();
  });

  test("in place goes back also when the restored members have started", async () => {
    const stage = await setUp(5);
    const { world } = stage;
    await using _ = world;
    const before = (await world.get(EtcdCluster, "orders")).status?.clusterID;
    await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
    await world.until("it starts", async () => (await statusOf(stage))?.phase === "Starting");
    await world.run(800);
    await world.delete(Restore, "back");
    await world.settled();
    const isBack = (await world.get(EtcdCluster, "orders")).status?.clusterID === before;
    expect(await keysOf(stage, "orders")).toEqual({ a: isBack ? "2" : "1" });
    expect((await volumes(stage)).length).toBe(3);
    await world.expectQuiet();
  });

  test("in place does the same although the operator dies after each of its writes", async () => {
    for (let write = 1; write <= 60; write += 5) {
      const stage = await setUp(6);
      const { world, etcd } = stage;
      await using _ = world;
      world.crashOperatorAt(world.operatorWrites + write, "after");
      await world.apply(Restore({ name: "back", spec: { ...source, inPlace: {} } }));
      await world.settled();
      expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
      expect(await keysOf(stage, "orders")).toEqual({ a: "1" });
      expect(etcd.violations).toEqual([]);
    }
  });
});
