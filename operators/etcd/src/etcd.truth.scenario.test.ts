/**
 * What the status says while something is wrong, and of what the operator cannot see; in the simulated world.
 */
import { ClusterRole, Event, PersistentVolumeClaim } from "setpoint/kinds";
import { conditionOf, simulate, EtcdModel, type World } from "setpoint/testing";
import { minutes, seconds } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { bootstrap, claims, memberNames, setUp } from "./testing/etcd-stage.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

type Condition = NonNullable<ReturnType<typeof conditionOf>>;

async function degraded(world: World): Promise<Condition | undefined> {
  return conditionOf(await world.get(EtcdCluster, "orders"), "Degraded");
}

/** Every condition Degraded that a watcher sees until the world is settled. */
async function seenUntilSettled(world: World): Promise<readonly Condition[]> {
  const seen: Condition[] = [];
  for (let step = 0; step < 600; step++) {
    await world.run(100);
    const condition = await degraded(world);
    if (condition !== undefined) seen.push(condition);
  }
  await world.settled();
  return seen;
}

test("a cluster is degraded from the death of a member until its replacement votes, and names the member", async () => {
  const stage = await setUp(61);
  await using world = stage.world;
  await bootstrap(stage, claims);
  const dead = memberNames(stage).find((name) => name !== stage.etcd.leader("orders")) ?? "";
  world.kill(dead);
  const seen = await seenUntilSettled(world);
  const first = seen.findIndex(({ status }) => status === "True");
  const last = seen.findLastIndex(({ status }) => status === "True");
  expect(first).toBeGreaterThanOrEqual(0);
  expect(seen.slice(first, last + 1).map(({ status }) => status)).not.toContain("False");
  expect(seen[first]?.message).toContain(dead);
  expect(await degraded(world)).toMatchObject({ status: "False", message: "All 3 members answer" });
});

test("a claim that is being deleted under a member is named", async () => {
  const stage = await setUp(63);
  await using world = stage.world;
  await bootstrap(stage, claims);
  const [name = ""] = memberNames(stage);
  stage.etcd.forgive();
  await world.delete(PersistentVolumeClaim, `data-${name}`);
  await world.run(seconds(30));
  expect((await world.get(PersistentVolumeClaim, `data-${name}`)).metadata.deletionTimestamp).toBeDefined();
  expect(await degraded(world)).toMatchObject({ status: "True", reason: "VolumeTerminating" });
  expect((await degraded(world))?.message).toContain(`data-${name}`);
});

async function withRights(seed: number): Promise<{ readonly world: World; readonly etcd: EtcdModel }> {
  const etcd = new EtcdModel();
  const world = await simulate({
    seed,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
    leaderElection: true,
  });
  await bootstrap({ world }, claims);
  return { world, etcd };
}

/** Takes verbs of a resource from the operator's role; a watch that is open may go on until it ends. */
async function revoke(world: World, resource: string, verbs: readonly string[]): Promise<void> {
  const { rules = [] } = await world.get(ClusterRole, "etcd-operator");
  const left = rules.map((rule) =>
    rule.resources?.includes(resource) ? { ...rule, verbs: rule.verbs.filter((verb) => !verbs.includes(verb)) } : rule,
  );
  await world.patch(ClusterRole, "etcd-operator", { rules: left.filter(({ verbs: kept }) => kept.length > 0) });
}

test("an operator that may not read pods any more says that it does not know, and what to grant", async () => {
  const { world } = await withRights(64);
  await using _world = world;
  await revoke(world, "pods", ["get", "list", "watch"]);
  await world.run(minutes(15));
  const present = await world.get(EtcdCluster, "orders");
  for (const type of ["Degraded", "Progressing"]) {
    expect(conditionOf(present, type)).toMatchObject({ status: "Unknown", reason: "NotObserved" });
    expect(conditionOf(present, type)?.message).toContain("Cannot list pods in all namespaces");
  }
  await revoke(world, "nothing", []);
});

test("an operator that may not write the status any more says so in an event", async () => {
  const { world, etcd } = await withRights(65);
  await using _world = world;
  await revoke(world, "etcdclusters/status", ["patch"]);
  world.kill(etcd.leader("orders") ?? "");
  await world.run(minutes(1));
  const notes = (await world.list(Event)).map(({ reason, message }) => `${reason} ${message}`);
  expect(notes.filter((note) => note.startsWith("Forbidden")).join()).toContain("etcdclusters/status");
});

test("the status says when it was checked, at each change and never without one", async () => {
  const stage = await setUp(66);
  await using world = stage.world;
  await bootstrap(stage, claims);
  const checked = (await world.get(EtcdCluster, "orders")).status?.lastChecked;
  expect(checked).toBeDefined();
  await world.expectQuiet({ hours: 2 });
  expect((await world.get(EtcdCluster, "orders")).status?.lastChecked).toBe(checked);
  world.kill(stage.etcd.leader("orders") ?? "");
  await world.settled();
  expect((await world.get(EtcdCluster, "orders")).status?.lastChecked).not.toBe(checked);
});
