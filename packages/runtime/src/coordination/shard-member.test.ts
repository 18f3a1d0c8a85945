import { controller, pushSource, startManager, type Manager } from "@setpoint/runtime";
import { describe, expect, test } from "vitest";
import { Candy, Fleet, isLeaseRequest, type FleetProcess } from "../manager/fleet.fixture.ts";

const sharding = { name: "candies", namespace: "default" };

interface Member {
  readonly process: FleetProcess;
  readonly manager: Manager;
  /** Keys in the order of their runs. */
  readonly runs: string[];
}

interface JoinOptions {
  readonly drainSeconds?: number;
  readonly runMs?: number;
  shardBy?(key: string): string;
}

function join(fleet: Fleet, name: string, options: JoinOptions = {}): Member {
  const { runMs = 0, drainSeconds = 30, shardBy } = options;
  const process = fleet.process(name);
  const runs: string[] = [];
  const candies = controller(Candy, {
    reconcile: async (candy, { status, host: { clock }, awaitChange }) => {
      runs.push(candy.metadata.name);
      if (runMs > 0) await new Promise<void>((resolve) => void clock.setTimer(resolve, runMs));
      await status({ by: name, turn: candy.spec.turn ?? 0 });
      return awaitChange();
    },
  });
  const { transport, host } = process;
  const manager = startManager({
    ...{ transport, host, controllers: [candies] },
    sharding: { ...sharding, identity: name, drainSeconds, ...(shardBy === undefined ? {} : { shardBy }) },
  });
  return { process, manager, runs };
}

async function withCandies(fleet: Fleet, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, i) => `candy-${i}`);
  for (const name of names)
    await fleet.wait(fleet.client.create(Candy, Candy({ name, namespace: "default", spec: { flavors: [] } })));
  return names;
}

test("members divide the keys among them, and one that comes takes its share over", async () => {
  await using fleet = new Fleet(1);
  const names = await withCandies(fleet, 40);
  const [a, b] = [join(fleet, "a"), join(fleet, "b")];
  await fleet.run(10_000);
  expect(a.manager.shard()).toMatchObject({
    epoch: b.manager.shard()?.epoch,
    members: expect.arrayContaining(["a", "b"]),
  });
  expect(a.runs.length).toBeGreaterThan(10);
  expect(b.runs.length).toBeGreaterThan(10);

  const c = join(fleet, "c");
  await fleet.run(10_000);
  expect(c.runs.length).toBeGreaterThan(5);
  expect(new Set([...a.runs, ...b.runs])).toEqual(new Set(names));
  const shares = [a, b, c].map(({ manager }) => manager.shard()?.runnableShare ?? 0);
  expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(1);
  for (const { manager } of [a, b, c]) await fleet.wait(manager.stop());
});

test("a member that leaves in order is replaced within two looks at the group, a dead one after its lease", async () => {
  await using fleet = new Fleet(2);
  await withCandies(fleet, 30);
  const [a, b, c] = [join(fleet, "a"), join(fleet, "b"), join(fleet, "c")];
  await fleet.run(10_000);
  await fleet.wait(a.manager.stop());
  await fleet.run(5_000);
  expect((b.manager.shard()?.runnableShare ?? 0) + (c.manager.shard()?.runnableShare ?? 0)).toBeCloseTo(1);
  b.process.kill();
  await fleet.run(14_000);
  expect(c.manager.shard()?.runnableShare).toBeLessThan(1);
  await fleet.run(6_000);
  expect(c.manager.shard()).toMatchObject({ runnableShare: 1, members: ["c"] });
  await fleet.wait(c.manager.stop());
});

test("a running key may end before its new owner begins", async () => {
  await using fleet = new Fleet(3);
  await withCandies(fleet, 30);
  const slow = join(fleet, "slow", { runMs: 8_000 });
  await fleet.run(4_000);
  const quick = join(fleet, "quick");
  await fleet.run(3_000);
  // The slow member is in the middle of its first four runs, and has not released anything.
  expect(slow.runs.length).toBeGreaterThan(0);
  expect(quick.runs).toEqual([]);
  await fleet.run(20_000);
  expect(quick.runs.length).toBeGreaterThan(5);
  for (const { manager } of [slow, quick]) await fleet.wait(manager.stop());
});

test("a run that does not end is aborted after its time, and cannot write any more", async () => {
  await using fleet = new Fleet(4);
  await withCandies(fleet, 30);
  join(fleet, "stuck", { runMs: 600_000, drainSeconds: 5 });
  await fleet.run(4_000);
  const other = join(fleet, "other");
  await fleet.run(20_000);
  expect(other.runs.length).toBeGreaterThan(5);
  const writers: string[] = [];
  fleet.onArrival = ({ process, request }) => {
    if (request.method === "PATCH" && !isLeaseRequest(request)) writers.push(`${process.name} ${request.path}`);
  };
  await fleet.run(900_000);
  const taken = new Set(other.runs);
  expect(writers.filter((each) => each.startsWith("stuck ") && taken.has(each.split("/").at(-2) ?? ""))).toEqual([]);
});

test("a member that renews its lease while it is being declared dead lives on", async () => {
  await using fleet = new Fleet(5);
  const [a, b] = [join(fleet, "a"), join(fleet, "b")];
  await fleet.run(10_000);
  const uidsBefore = (await fleet.wait(fleet.client.listAll(leases))).items
    .map(({ metadata }) => metadata.uid)
    .toSorted();
  // The deletion is on its way for six seconds, and the paused process comes back before it arrives.
  let deletions = 0;
  fleet.onArrival = ({ request }) => void (request.method === "DELETE" && deletions++);
  b.process.latencyMs = ({ method }) => (method === "DELETE" ? 6_000 : 0);
  a.process.pause(19_000);
  await fleet.run(40_000);
  expect(deletions).toBe(1);
  expect([a.manager.isLeader(), b.manager.isLeader()]).toEqual([true, true]);
  const uids = (await fleet.wait(fleet.client.listAll(leases))).items.map(({ metadata }) => metadata.uid).toSorted();
  expect(uids).toEqual(uidsBefore);
});

test("a server that needs three seconds for each answer costs no member its lease", async () => {
  await using fleet = new Fleet(9);
  const members = [join(fleet, "a"), join(fleet, "b")];
  await fleet.run(10_000);
  for (const { process } of members) process.latencyMs = () => 1_500;
  let lapses = 0;
  for (let i = 0; i < 600; i++) {
    await fleet.run(500);
    lapses += members.filter(({ manager }) => !manager.isLeader()).length;
  }
  expect(lapses).toBe(0);
  expect(members.map(({ manager }) => manager.shard()?.members.length)).toEqual([2, 2]);
});

test("a group whose record is deleted continues with a later epoch, and admits new members as before", async () => {
  await using fleet = new Fleet(10);
  await withCandies(fleet, 30);
  const [a, b] = [join(fleet, "a"), join(fleet, "b")];
  await fleet.run(10_000);
  const before = a.manager.shard()?.epoch ?? 0;
  await fleet.wait(fleet.client.delete(leases, sharding));
  const c = join(fleet, "c", { runMs: 100 });
  await fleet.run(20_000);
  const shards = [a, b, c].map(({ manager }) => manager.shard());
  expect(shards.map((shard) => shard?.members.length)).toEqual([3, 3, 3]);
  expect(shards.every((shard) => (shard?.epoch ?? 0) > before)).toBe(true);
  expect(shards.reduce((sum, shard) => sum + (shard?.runnableShare ?? 0), 0)).toBeCloseTo(1);
});

const annotation = "setpoint.dev/shard-epochs";
const annotated = (text: string | null) => ({ metadata: { annotations: { [annotation]: text } } });

describe("a group whose record is damaged goes on, takes in newcomers, and says so", () => {
  test.each([
    ["no JSON", annotated("[[3,")],
    ["JSON of another shape", annotated('[["3",[["a"]]]]')],
    ["no epochs at all", annotated("[]")],
    ["nothing", annotated(null)],
    ["an epoch that no Lease could count on from", annotated('[[2147483647,[["a","u"]]]]')],
    ["an older epoch", annotated('[[1,[["a","u"]]]]')],
    ["no label by which it is found", { metadata: { labels: { "setpoint.dev/shards": null } } }],
    ["a counter out of bounds", { ...annotated(""), spec: { leaseTransitions: 2_147_483_647 } }],
  ])("it holds %s", async (_what, damage) => {
    await using fleet = new Fleet(12);
    await withCandies(fleet, 30);
    const a = join(fleet, "a");
    await fleet.run(5_000);
    const b = join(fleet, "b");
    await fleet.run(10_000);
    const before = a.manager.shard()?.epoch ?? 0;
    await fleet.wait(fleet.client.patch(leases, sharding, damage));
    const c = join(fleet, "c", { runMs: 100 });
    await fleet.run(20_000);
    const shards = [a, b, c].map(({ manager }) => manager.shard());
    expect(shards.map((shard) => shard?.members.length)).toEqual([3, 3, 3]);
    expect(shards.every((shard) => (shard?.epoch ?? 0) > before && (shard?.epoch ?? 0) < 10_000)).toBe(true);
    expect(shards.reduce((sum, shard) => sum + (shard?.runnableShare ?? 0), 0)).toBeCloseTo(1);
    const repairs = [a, b, c].map(
      ({ manager }) => /setpoint_shard_repairs_total\{.*\} (\d+)/.exec(manager.metrics())?.[1],
    );
    expect(repairs.reduce((sum, count) => sum + Number(count ?? 0), 0)).toBe(1);
  });

  test("a group that has only newcomers left, too", async () => {
    await using fleet = new Fleet(13);
    const a = join(fleet, "a");
    await fleet.run(10_000);
    a.process.kill();
    await fleet.wait(fleet.client.patch(leases, sharding, annotated("[")));
    const b = join(fleet, "b");
    await fleet.run(60_000);
    expect(b.manager.shard()).toMatchObject({ members: ["b"], runnableShare: 1 });
  });

  test("no member starts another member's key before it is released", async () => {
    await using fleet = new Fleet(14);
    await withCandies(fleet, 30);
    const a = join(fleet, "a", { runMs: 8_000 });
    await fleet.run(9_000);
    const begun = a.runs.length;
    expect(begun).toBeGreaterThan(0);
    await fleet.wait(fleet.client.patch(leases, sharding, annotated("[")));
    const b = join(fleet, "b");
    await fleet.run(3_000);
    expect(b.runs).toEqual([]);
    await fleet.run(60_000);
    expect(new Set([...a.runs, ...b.runs]).size).toBe(30);
    expect(b.runs.length).toBeGreaterThan(5);
  });
});

test("a member that was declared dead stops", async () => {
  await using fleet = new Fleet(6);
  const [a, b] = [join(fleet, "a"), join(fleet, "b")];
  await fleet.run(10_000);
  a.process.pause(60_000);
  await fleet.run(70_000);
  await expect(a.manager.done).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  expect(b.manager.shard()).toMatchObject({ members: ["b"], runnableShare: 1 });
});

test("shardBy keeps what belongs together with one member", async () => {
  await using fleet = new Fleet(7);
  await withCandies(fleet, 30);
  const [a, b] = ["a", "b"].map((name) => join(fleet, name, { shardBy: (key) => key.split("/")[0] ?? "" }));
  await fleet.run(20_000);
  const counts = [a, b].map((member) => new Set(member?.runs).size);
  expect(counts.toSorted((x, y) => x - y)).toEqual([0, 30]);
});

test("options that contradict each other are refused", async () => {
  await using fleet = new Fleet(8);
  const { transport, host } = fleet.process("a");
  const leaderElection = { name: "candies", namespace: "default" };
  expect(() => startManager({ transport, host, controllers: [], sharding, leaderElection })).toThrow(
    'Cannot start manager "setpoint": it sets both leaderElection and sharding; remove one of them',
  );
  const tooShort = { ...sharding, renewDeadlineSeconds: 15 };
  expect(() => startManager({ transport, host, controllers: [], sharding: tooShort })).toThrow("must be shorter");
});

const leases = {
  ...{ group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", namespaced: true },
};

test("a push for a key of another member says so, so that the sender goes there", async () => {
  await using fleet = new Fleet(11);
  const names = await withCandies(fleet, 20);
  const [a, b] = ["a", "b"].map((name) => {
    const { transport, host } = fleet.process(name);
    const hooks = pushSource();
    const candies = controller(Candy, { sources: [hooks], reconcile: async () => {} });
    const manager = startManager({
      transport,
      host,
      controllers: [candies],
      sharding: { ...sharding, identity: name },
    });
    return { hooks, manager };
  });
  await fleet.run(15_000);
  for (const name of names) {
    const key = { name, namespace: "default" };
    expect([a, b].filter((member) => member?.hooks.push(key)).length).toBe(1);
  }
  for (const member of [a, b]) await fleet.wait(member?.manager.stop() ?? Promise.resolve());
});

test("a shardBy that throws holds up its own key alone, which is logged and tried again", async () => {
  await using fleet = new Fleet(12);
  const names = await withCandies(fleet, 10);
  let isBroken = true;
  const a = join(fleet, "a", {
    shardBy(key) {
      if (isBroken && key.endsWith("/candy-3")) throw new Error("an author's mistake");
      return key;
    },
  });
  await fleet.run(20_000);
  expect(a.runs.toSorted()).toEqual(names.filter((name) => name !== "candy-3").toSorted());
  expect(fleet.host.lines.filter(({ message }) => message === "Cannot run key").length).toBeGreaterThan(1);
  isBroken = false;
  await fleet.run(60_000);
  expect(new Set(a.runs)).toEqual(new Set(names));
  await fleet.wait(a.manager.stop());
});
