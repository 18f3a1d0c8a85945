/** Stories of HatefulSets in the simulated world. */
import { minutes, seconds } from "setpoint";
import { Event, Namespace, NetworkPolicy, Node, Pod, PodDisruptionBudget, StatefulSet } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { chaosNames } from "./kind/chaos-names.ts";
import { HatefulSet } from "./kind/hateful-set.ts";
import { budget, chaos, setUp } from "./testing/hateful-stage.ts";

async function uids(world: World): Promise<readonly string[]> {
  return (await world.list(Pod)).map(({ metadata }) => metadata.uid);
}

async function statusOf(world: World): Promise<NonNullable<HatefulSet["status"]>> {
  const { status } = await world.get(HatefulSet, "chaos");
  if (status === undefined) throw new Error("The HatefulSet has no status yet");
  return status;
}

/** How many of the pods are others now. */
async function replaced(world: World, before: readonly string[]): Promise<number> {
  return (await uids(world)).filter((uid) => !before.includes(uid)).length;
}

/** Pods that are ended then stay away. */
async function cordon(world: World, unschedulable: boolean): Promise<void> {
  for (const { metadata } of await world.list(Node))
    await world.patch(Node, metadata.name, { spec: { unschedulable } });
}

test("the resource of the talk strikes once an interval, and records each recovery", async () => {
  await using world = await setUp(1);
  await world.apply(chaos());
  await world.run(minutes(30));
  const { acts = [], total, recovered } = await statusOf(world);
  expect(total).toBeGreaterThanOrEqual(5);
  expect(total).toBeLessThanOrEqual(7);
  expect(recovered).toBe(total);
  expect(
    acts.every(({ phase, recoveredAfterSeconds }) => phase === "Recovered" && recoveredAfterSeconds !== undefined),
  ).toBe(true);
  const said = acts[0]?.said?.map(({ text }) => text) ?? [];
  expect(said[0]).toBe("3 replicas ready");
  expect(said).toContain("2 replicas ready");
  const events = (await world.list(Event)).map(({ message = "" }) => message);
  expect(events).toContainEqual(expect.stringMatching(/^End pod web-\d of StatefulSet web for interval-1$/));
  expect(events).toContainEqual(expect.stringMatching(/^StatefulSet web has recovered after \d+ s from interval-1$/));
});

test("equal seeds strike the same pods", async () => {
  const victims = async (seed: number): Promise<readonly string[]> => {
    await using world = await setUp(seed);
    await world.apply(chaos({ seed: 42, chaosLevel: 5 }));
    await world.run(minutes(60));
    return ((await statusOf(world)).acts ?? []).map(({ id, victim }) => `${id} ${victim.name}`);
  };
  const first = await victims(1);
  expect(first.length).toBeGreaterThan(2);
  expect(await victims(2)).toEqual(first);
});

test("nobody is struck who has not opted in, or has opted out", async () => {
  await using world = await setUp(2);
  await world.patch(StatefulSet, "web", { metadata: { labels: { [chaosNames.chaos]: null } } });
  const before = await uids(world);
  await world.apply(chaos({ jitter: 0 }));
  await world.run(minutes(20));
  expect(await replaced(world, before)).toBe(0);
  const waits = conditionOf(await world.get(HatefulSet, "chaos"), "Progressing");
  expect(waits?.message).toContain("no pod is opted in");
  await world.patch(Namespace, { name: "default" }, { metadata: { labels: { [chaosNames.chaos]: "enabled" } } });
  await world.run(minutes(6));
  const { total } = await statusOf(world);
  expect(total).toBeGreaterThan(0);
  await world.patch(StatefulSet, "web", { metadata: { labels: { [chaosNames.chaos]: "disabled" } } });
  await world.run(minutes(20));
  expect((await statusOf(world)).total).toBe(total);
});

test("a PodDisruptionBudget without room holds every act back, until the spec ignores it", async () => {
  await using world = await setUp(3);
  await world.patch(PodDisruptionBudget, "web", { spec: { minAvailable: 3 } });
  await world.settled();
  const before = await uids(world);
  await world.apply(chaos());
  await world.run(minutes(20));
  expect(await replaced(world, before)).toBe(0);
  await world.patch(HatefulSet, "chaos", { spec: { safety: { budgets: "Ignore" } } });
  await world.run(minutes(10));
  expect(await replaced(world, before)).toBeGreaterThan(0);
});

test("a target that is not healthy is left alone", async () => {
  await using world = await setUp(4);
  await world.delete(PodDisruptionBudget, budget.metadata.name ?? "");
  await cordon(world, true);
  await world.delete(Pod, "web-1");
  await world.apply(chaos());
  await world.run(minutes(20));
  expect(await statusOf(world)).toMatchObject({ total: 0 });
});

test("a target that does not recover ends the chaos, until a person resumes it", async () => {
  await using world = await setUp(5);
  await world.apply(chaos({ abort: { afterSeconds: 60 } }));
  await cordon(world, true);
  await world.run(minutes(30));
  const { total, aborted, acts } = await statusOf(world);
  expect(total).toBe(1);
  expect(aborted?.reason).toContain("StatefulSet web has not recovered from interval-1 in 60 s");
  expect(acts).toMatchObject([{ phase: "NotRecovered" }]);
  expect(conditionOf(await world.get(HatefulSet, "chaos"), "Active")).toMatchObject({
    status: "False",
    reason: "Aborted",
  });
  await cordon(world, false);
  await world.run(minutes(10));
  expect((await statusOf(world)).total).toBe(1);
  await world.patch(HatefulSet, "chaos", { metadata: { annotations: { [chaosNames.resume]: "1" } } });
  await world.run(minutes(7));
  expect((await statusOf(world)).total).toBe(2);
});

test("an annotation asks for one act", async () => {
  await using world = await setUp(6);
  const before = await uids(world);
  await world.apply(chaos({ chaosLevel: 0 }));
  await world.settled();
  await world.patch(HatefulSet, "chaos", { metadata: { annotations: { [chaosNames.strike]: "game day" } } });
  await world.settled();
  expect(await replaced(world, before)).toBe(1);
  const { acts } = await statusOf(world);
  expect(acts).toMatchObject([{ id: "request-1", cause: "the request game day", phase: "Recovered" }]);
  await world.expectQuiet();
});

const partition = { chaosLevel: 0, targets: [{ type: "Partition" as const, durationSeconds: 60 }] };

test("a partition is a NetworkPolicy for its time, which cuts off one pod", async () => {
  await using world = await setUp(8);
  await world.apply(chaos(partition, { [chaosNames.strike]: "cut" }));
  await world.run(seconds(10));
  const [policy] = await world.list(NetworkPolicy);
  expect(policy?.spec).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
  const { acts = [] } = await statusOf(world);
  expect(acts).toMatchObject([{ phase: "Struck", lasting: { policy: "chaos-request-1" } }]);
  expect(policy?.spec?.podSelector?.matchLabels?.["statefulset.kubernetes.io/pod-name"]).toBe(acts[0]?.victim.name);
  await world.settled();
  expect(await world.list(NetworkPolicy)).toEqual([]);
  expect((await statusOf(world)).acts).toMatchObject([{ phase: "Recovered" }]);
});

test.each(["before", "after"] as const)("an operator that dies %s any write leaves no lasting fault", async (when) => {
  for (let write = 1; write <= 10; write++) {
    await using world = await setUp(write);
    world.crashOperatorAt(world.operatorWrites + write, when);
    await world.apply(chaos(partition, { [chaosNames.strike]: "cut" }));
    await world.run(seconds(90));
    await world.settled();
    expect(await world.list(NetworkPolicy)).toEqual([]);
    expect(await statusOf(world)).toMatchObject({ total: 1, acts: [{ phase: "Recovered" }] });
  }
});

test("a HatefulSet that is deleted or suspended takes its faults with it", async () => {
  for (const end of ["delete", "suspend"] as const) {
    await using world = await setUp(9);
    await world.apply(chaos(partition, { [chaosNames.strike]: "cut" }));
    await world.run(seconds(10));
    expect(await world.list(NetworkPolicy)).toHaveLength(1);
    if (end === "delete") await world.delete(HatefulSet, "chaos");
    else await world.patch(HatefulSet, "chaos", { spec: { suspend: true } });
    await world.run(seconds(5));
    expect(await world.list(NetworkPolicy)).toEqual([]);
  }
});

test("what the network cannot do is refused with the reason", async () => {
  await using world = await setUp(10);
  await world.apply(chaos());
  const refused = world.patch(HatefulSet, "chaos", { spec: { targets: [{ type: "Delay" }] } });
  await expect(refused).rejects.toThrow("the network cannot delay packets by any API of Kubernetes");
});

test("a dry run records and strikes nobody", async () => {
  await using world = await setUp(7);
  const before = await uids(world);
  await world.apply(chaos({ dryRun: true }));
  await world.run(minutes(20));
  expect(await replaced(world, before)).toBe(0);
  const { acts = [], total } = await statusOf(world);
  expect(acts.length).toBeGreaterThan(2);
  expect(acts.every(({ phase }) => phase === "Pretended")).toBe(true);
  expect(total).toBe(0);
});

test.each(["before", "after"] as const)("an operator that dies %s any of its writes strikes once", async (when) => {
  for (let write = 1; write <= 8; write++) {
    await using world = await setUp(write);
    const before = await uids(world);
    world.crashOperatorAt(world.operatorWrites + write, when);
    await world.apply(chaos({ chaosLevel: 0 }, { [chaosNames.strike]: "once" }));
    await world.settled();
    await world.run(seconds(30));
    await world.settled();
    expect(await replaced(world, before)).toBe(1);
    expect(await statusOf(world)).toMatchObject({ total: 1, acts: [{ phase: "Recovered" }] });
  }
});
