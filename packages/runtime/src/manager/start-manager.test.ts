import type { KubeObject, Transport, WatchFrame } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { sleep, type Clock } from "@setpoint/host";
import { controller, startManager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, notesOf, Wrapper } from "../run/controller-world.fixture.ts";
import { Lease } from "../run/served-kinds.fixture.ts";

const key = { name: "lolly", namespace: "default" };

/** A server whose watches tell everything late. */
function lagging(inner: Transport, clock: Clock, lagMs: number): Transport {
  async function* late(frames: AsyncIterable<WatchFrame>): AsyncGenerator<WatchFrame> {
    for await (const frame of frames) {
      await sleep(clock, lagMs);
      yield frame;
    }
  }
  return {
    async send(request, signal) {
      const response = await inner.send(request, signal);
      return response.kind === "watch" ? { ...response, frames: late(response.frames) } : response;
    },
  };
}

const wrap = controller(Candy, {
  owns: { wrappers: Wrapper },
  desired: (object, { wrappers }) => ({
    children: object.spec.flavors.map((flavor) =>
      Wrapper({ name: `${object.metadata.name}-${flavor}`, data: { flavor } }),
    ),
    status: { wrappers: wrappers.length },
  }),
});

const names = (objects: readonly Stored<KubeObject>[]): readonly string[] =>
  objects.map((object) => object.metadata.name).toSorted((a, b) => a.localeCompare(b));

async function wrappers(client: Client): Promise<readonly string[]> {
  return names((await client.listAll(Wrapper)).items);
}

test("children are made, pruned and counted, and a finished world stays silent", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  await client.create(Candy, candy("mint", "lime"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  expect(await wrappers(client)).toEqual(["lolly-lime", "lolly-mint"]);

  await client.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await world.settle(manager);
  expect(await wrappers(client)).toEqual(["lolly-lime"]);
  expect((await world.candy()).status).toEqual({ wrappers: 1, observedGeneration: 2 });

  const before = world.faults.writes.length;
  manager.enqueue("candy", key);
  await world.settle(manager);
  expect(world.faults.writes.length).toBe(before);
});

test("a new object costs one write a child and one of status", async () => {
  await using world = createControllerWorld();
  const manager = world.start([wrap]);
  await world.settle(manager);
  await world.client.create(Candy, candy("mint"));
  await world.run(1_000);
  expect(world.writes()).toEqual(["PATCH configmaps/lolly-mint", "PATCH candies/lolly/status"]);
  expect((await world.candy()).status).toEqual({ wrappers: 1, observedGeneration: 1 });
});

test("a restarted operator finds everything done and writes nothing", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "lime"));
  const first = world.start([wrap]);
  await world.settle(first);
  await world.wait(first.stop());
  const before = world.faults.writes.length;
  await world.settle(world.start([wrap]));
  expect(world.faults.writes.length).toBe(before);
});

test("a child that a user deletes or changes is restored", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  await client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  await client.delete(Wrapper, { name: "lolly-mint", namespace: "default" });
  await world.settle(manager);
  expect(await wrappers(client)).toEqual(["lolly-mint"]);
  await client.patch(Wrapper, { name: "lolly-mint", namespace: "default" }, { data: { flavor: "salt" } });
  await world.settle(manager);
  expect((await client.get(Wrapper, { name: "lolly-mint", namespace: "default" })).data).toEqual({ flavor: "mint" });
});

test("an object of another owner is never taken over", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  await client.create(Wrapper, Wrapper({ name: "lolly-mint", namespace: "default", data: { mine: "yes" } }));
  await client.create(Candy, candy("mint"));
  world.start([wrap]);
  await world.run(5_000);
  const kept = await client.get(Wrapper, { name: "lolly-mint", namespace: "default" });
  expect(kept.data).toEqual({ mine: "yes" });
  expect(kept.metadata.ownerReferences).toBeUndefined();
});

test.each([1, 2, 3, 4, 5])("losing the answer of write %i leads to the same end", async (lost) => {
  await using world = createControllerWorld(lost);
  world.faults.plan = ({ writeNumber }) => (writeNumber === lost ? { kind: "lose" } : undefined);
  await world.client.create(Candy, candy("mint", "lime"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  await world.run(10_000);
  await world.settle(manager);
  expect(await wrappers(world.client)).toEqual(["lolly-lime", "lolly-mint"]);
  expect((await world.candy()).status).toEqual({ wrappers: 2, observedGeneration: 1 });
});

test.each(["before", "after"] as const)("a crash %s any write is repaired by the next start", async (when) => {
  for (let crashing = 1; crashing <= 3; crashing++) {
    await using world = createControllerWorld(crashing);
    world.faults.plan = ({ writeNumber }) => (writeNumber === crashing ? { kind: "crash", when } : undefined);
    await world.client.create(Candy, candy("mint", "lime"));
    world.start([wrap]);
    await world.run(5_000);
    const second = world.start([wrap], { transport: world.transport });
    await world.settle(second);
    expect(await wrappers(world.client)).toEqual(["lolly-lime", "lolly-mint"]);
    expect((await world.candy()).status).toEqual({ wrappers: 2, observedGeneration: 1 });
  }
});

test("watches that are cut lose no change", async () => {
  await using world = createControllerWorld(3);
  const manager = world.start([wrap]);
  await world.settle(manager);
  world.faults.cutWatches();
  await world.client.create(Candy, candy("mint"));
  await world.run(10_000);
  expect(await wrappers(world.client)).toEqual(["lolly-mint"]);
});

test("a key never runs before the cache shows what it wrote", async () => {
  await using world = createControllerWorld();
  const seen: number[] = [];
  let count = 0;
  const delayed = lagging(world.faults, world.host.clock, 2_000);
  const counting = controller(Candy, {
    owns: [Wrapper],
    async reconcile(object, { children, create, requeueAfter }) {
      seen.push(children.list(Wrapper).length);
      if (count === 5) return;
      await create(Wrapper({ name: `${object.metadata.name}-${count++}`, data: {} }));
      expect(children.list(Wrapper).length).toBe(count);
      return requeueAfter(0, "count on");
    },
  });
  await world.client.create(Candy, candy());
  const manager = world.start([counting], { transport: delayed });
  await world.settle(manager);
  expect(seen.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a finalizer is added before the first effect and removed after the cleanup", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  const log: string[] = [];
  const cleaning = controller(Candy, {
    async reconcile(object) {
      log.push(`reconcile with ${object.metadata.finalizers?.join() ?? "none"}`);
    },
    async cleanup() {
      log.push("cleanup");
    },
  });
  await client.create(Candy, candy());
  const manager = world.start([cleaning]);
  await world.settle(manager);
  expect(new Set(log)).toEqual(new Set(["reconcile with example.com/candy"]));
  log.length = 0;
  await client.delete(Candy, key);
  await world.settle(manager);
  await world.run(1_000);
  expect(log).toEqual(["cleanup"]);
  await expect(client.get(Candy, key)).rejects.toThrow(/not found/);
});

test("a plan acts, looks again and comes to rest, and says so in the status", async () => {
  await using world = createControllerWorld();
  interface Actions {
    readonly add: { readonly name: string };
  }
  const planned = controller(Candy, {
    owns: [Wrapper],
    observe: (object, context) => ({
      want: object.spec.flavors,
      have: context.children.list(Wrapper).map((each) => each.metadata.name),
    }),
    plan(seen) {
      const missing = seen.want.find((flavor) => !seen.have.includes(flavor));
      if (missing === undefined) return { kind: "rest" };
      return { kind: "act", action: "add", args: { name: missing }, reason: `${missing} is missing` };
    },
    actions: {
      async add({ name }: Actions["add"], context) {
        await context.create(Wrapper({ name, data: {} }));
      },
    },
    status: (seen) => ({ wrappers: seen.have.length }),
  });
  await world.client.create(Candy, candy("mint", "lime"));
  const manager = world.start([planned]);
  await world.settle(manager);
  const { status } = await world.candy();
  expect(status?.wrappers).toBe(2);
  expect(status?.conditions).toMatchObject([
    { type: "Progressing", status: "False", reason: "DesiredStateReached", observedGeneration: 1 },
  ]);
  const notes = await notesOf(world, "Add");
  expect(notes.toSorted((a, b) => a.localeCompare(b))).toEqual(["lime is missing", "mint is missing"]);
});

test("only the leader writes; when it goes away another one takes over", async () => {
  await using world = createControllerWorld();
  const leaderElection = { name: "candies", namespace: "default" };
  const first = world.start([wrap], { leaderElection: { ...leaderElection, identity: "a" } });
  await world.settle(first);
  const second = world.start([wrap], { leaderElection: { ...leaderElection, identity: "b" } });
  await world.run(60_000);
  expect([first.isLeader(), second.isLeader()]).toEqual([true, false]);
  await world.wait(first.stop());
  await world.run(5_000);
  expect(second.isLeader()).toBe(true);
  await world.client.create(Candy, candy("mint"));
  await world.settle(second);
  await world.run(1_000);
  expect(await wrappers(world.client)).toEqual(["lolly-mint"]);
});

test("a leader that stops waits for no cache: nothing is to run after it, and the next one need not wait either", async () => {
  await using world = createControllerWorld();
  let isBlind = false;
  async function* seen(frames: AsyncIterable<WatchFrame>): AsyncGenerator<WatchFrame> {
    for await (const frame of frames) if (!isBlind) yield frame;
  }
  const transport: Transport = {
    async send(request, signal) {
      const response = await world.faults.send(request, signal);
      const isChild = response.kind === "watch" && request.path.endsWith("/configmaps");
      return isChild ? { ...response, frames: seen(response.frames) } : response;
    },
  };
  const leaderElection = { name: "candies", namespace: "default" };
  const manager = world.start([wrap], { transport, leaderElection });
  await world.settle(manager);
  isBlind = true;
  await world.client.create(Candy, candy("mint"));
  await world.run(100);
  expect(await wrappers(world.client)).toEqual(["lolly-mint"]);
  const beforeMs = world.host.clock.monotonic();
  await world.wait(manager.stop());
  expect(world.host.clock.monotonic() - beforeMs).toBeLessThan(100);
  const lease = await world.client.get(Lease, { name: "candies", namespace: "default" });
  expect(lease).toMatchObject({ spec: { holderIdentity: "" } });
});

test("a server that neither answers nor hears keeps no process from stopping", async () => {
  for (const options of [{}, { leaderElection: { name: "candies", namespace: "default" } }]) {
    await using world = createControllerWorld();
    const deaf: Transport = { send: () => new Promise<never>(() => {}) };
    const manager = world.start([wrap], { transport: deaf, ...options });
    await world.run(5_000);
    const beforeMs = world.host.clock.monotonic();
    await world.wait(manager.stop());
    expect(world.host.clock.monotonic() - beforeMs).toBeLessThanOrEqual(10_000);
  }
});

test("a leader that cannot renew stops before another one may start", async () => {
  await using world = createControllerWorld();
  const leaderElection = { name: "candies", namespace: "default" };
  const first = world.start([wrap], { leaderElection: { ...leaderElection, identity: "a" } });
  await world.settle(first);
  const other = startManager({
    transport: world.transport,
    host: world.host,
    controllers: [],
    leaderElection: { ...leaderElection, identity: "b" },
  });
  let bothMs = 0;
  world.faults.plan = ({ isWatch }) => (isWatch ? undefined : { kind: "drop" });
  for (let second = 0; second < 40; second++) {
    await world.run(1_000);
    if (first.isLeader() && other.isLeader()) bothMs++;
  }
  expect(bothMs).toBe(0);
  expect(other.isLeader()).toBe(true);
  await expect(first.done).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  expect(first.healthz().ok).toBe(false);
  await world.wait(other.stop());
});

test("health is well at rest, and metrics have the names that dashboards know", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  await world.run(1_200_000);
  expect(manager.readyz()).toMatchObject({ ok: true });
  expect(manager.metrics()).toContain('controller_runtime_reconcile_total{controller="candy",result="success"}');
  expect(manager.metrics()).toContain("workqueue_depth");
  expect(manager.metrics()).toContain("rest_client_requests_total");
});
