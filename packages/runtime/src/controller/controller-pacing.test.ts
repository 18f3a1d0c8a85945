import { sleep } from "@setpoint/host";
import {
  awaitChange,
  changed,
  controller,
  cron,
  every,
  onChange,
  pushSource,
  requeueAfter,
  TemporaryError,
  TerminalError,
  timer,
  watching,
} from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, Wrapper, type ControllerWorld } from "./controller-world.fixture.ts";
import { Event } from "./served-kinds.fixture.ts";

const key = { name: "lolly", namespace: "default" };
const pause = (world: ControllerWorld, value: string | null) =>
  world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/paused": value } } });

async function eventReasons(world: ControllerWorld): Promise<readonly unknown[]> {
  await world.run(100);
  return (await world.client.listAll(Event)).items.map((event) => Reflect.get(event, "reason"));
}

/** A controller that notes when it runs. */
function noting(world: ControllerWorld, options: Partial<Parameters<typeof controller<Candy>>[1]> = {}) {
  const runsMs: number[] = [];
  const definition = controller(Candy, {
    reconcile: async () => void runsMs.push(world.host.clock.monotonic()),
    ...options,
  });
  return { runsMs, definition };
}

test("a paused object is left alone, and caught up with when it is resumed", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const wrap = controller(Candy, {
    owns: { wrappers: Wrapper },
    predicate: changed("spec"),
    desired: ({ spec }) => ({ children: spec.flavors.map((name) => Wrapper({ name, data: {} })) }),
  });
  const manager = world.start([wrap]);
  await world.settle(manager);
  await pause(world, "true");
  await world.settle(manager);
  await world.client.patch(Candy, key, { spec: { flavors: ["mint", "lime"] } });
  await world.client.delete(Wrapper, { name: "mint", namespace: "default" });
  await world.run(60_000);
  expect((await world.client.listAll(Wrapper)).items).toEqual([]);
  expect(await eventReasons(world)).toContain("Paused");
  const why = await world.wait(manager.why({ kind: "Candy", ...key }));
  expect(why?.held).toBe('Not reconciled while the annotation setpoint.dev/paused is "true"');

  await pause(world, null);
  await world.settle(manager);
  expect((await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual(["lime", "mint"]);
  expect(await eventReasons(world)).toContain("Resumed");
});

test("an object that was paused before the start is left alone without a word", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  await pause(world, "true");
  const { runsMs, definition } = noting(world);
  await world.settle(world.start([definition]));
  expect(runsMs).toEqual([]);
  expect(await eventReasons(world)).toEqual([]);
});

test("a predicate that looks at the spec alone does not hide a deletion from the cleanup", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, { predicate: changed("spec"), cleanup: async () => {} });
  const manager = world.start([definition]);
  await world.settle(manager);
  await world.client.delete(Candy, key);
  await world.settle(manager);
  expect((await world.client.listAll(Candy)).items).toEqual([]);
});

test("a TemporaryError is tried again after exactly its delay, however often it comes", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    reconcile: async () => {
      runsMs.push(world.host.clock.monotonic());
      throw new TemporaryError("the bank is closed", 7_000);
    },
  });
  world.start([definition]);
  await world.run(30_000);
  const [first = 0] = runsMs;
  expect(runsMs.map((atMs) => atMs - first)).toEqual([0, 7_000, 14_000, 21_000, 28_000]);
});

test("a run that takes too long is told to end, and tried again", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const ends: string[] = [];
  const { definition } = noting(world, {
    timeoutMs: 1_000,
    reconcile: async (_object, { signal }) => {
      if (ends.length === 1) return;
      await sleep(world.host.clock, 60_000, signal).catch((error: Error) => ends.push(error.message));
      signal.throwIfAborted();
    },
  });
  const manager = world.start([definition]);
  await world.run(900);
  expect(ends).toEqual([]);
  await world.run(2_000);
  expect(ends).toEqual(["Cannot go on with the reconcile: it has taken 1000 ms, and no more are allowed (timeoutMs)"]);
  await world.settle(manager);
  expect(manager.metrics()).toContain('controller_runtime_reconcile_timeouts_total{controller="candy"} 1');
});

test("a run that ignores its time does not hold up other keys for ever, and its own key stays with it", async () => {
  await using world = createControllerWorld();
  for (const name of ["a", "b"]) await world.client.create(Candy, { ...candy(), metadata: { name, namespace: "n" } });
  const begun: string[] = [];
  const release = Promise.withResolvers<void>();
  const { definition } = noting(world, {
    concurrency: 1,
    timeoutMs: 1_000,
    reconcile: async ({ metadata }) => {
      begun.push(metadata.name);
      if (begun.length === 1) await release.promise;
    },
  });
  const manager = world.start([definition]);
  await world.run(5_900);
  const [stuck] = begun;
  expect(begun.length).toBe(1);
  await world.run(60_000);
  expect(begun.length).toBe(2);
  manager.enqueue("candy", { name: stuck ?? "", namespace: "n" });
  await world.run(60_000);
  expect(begun.filter((name) => name === stuck).length).toBe(1);
  release.resolve();
  await world.settle(manager);
  expect(begun.filter((name) => name === stuck).length).toBe(2);
});

test("a run that ends after its worker was given to others is not taken off the workers in use once more", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, { timeoutMs: 1_000, reconcile: () => sleep(world.host.clock, 30_000) });
  const manager = world.start([definition]);
  await world.run(60_000);
  expect(manager.metrics()).toContain('controller_runtime_active_workers{controller="candy"} 0');
});

test("with a largest interval an object is looked at again and again, and without one never", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const often = noting(world, { name: "often", maxReconcileIntervalMs: 60_000 });
  const never = noting(world, { name: "never" });
  world.start([often.definition, never.definition]);
  await world.run(600_000);
  expect(often.runsMs.length).toBeGreaterThanOrEqual(9);
  expect(often.runsMs.length).toBeLessThanOrEqual(12);
  expect(never.runsMs.length).toBe(1);
});

test("a requeue later than the largest interval does not put it off", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    maxReconcileIntervalMs: 60_000,
    reconcile: async () => {
      runsMs.push(world.host.clock.monotonic());
      return requeueAfter(3_600_000, "in an hour");
    },
  });
  world.start([definition]);
  await world.run(600_000);
  expect(runsMs.length).toBeGreaterThanOrEqual(9);
});

test("a run that failed for good is still looked at again after the largest interval", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    maxReconcileIntervalMs: 60_000,
    reconcile: async () => {
      runsMs.push(world.host.clock.monotonic());
      throw new TerminalError("the spec cannot be done");
    },
  });
  world.start([definition]);
  await world.run(600_000);
  expect(runsMs.length).toBeGreaterThanOrEqual(9);
  expect(runsMs.length).toBeLessThanOrEqual(13);
});

test("functions of the author that throw in a handler lose no event, neither for them nor for other controllers", async () => {
  await using world = createControllerWorld();
  const broken = (): never => {
    throw new Error("an author's mistake");
  };
  const bad = noting(world, {
    name: "bad",
    ...{ predicate: broken, fairness: broken, priority: broken },
    watches: [watching(Wrapper, () => [key], { predicate: broken })],
  });
  const good = noting(world, { name: "good", watches: [watching(Wrapper, () => [key])] });
  await world.client.create(Candy, candy("mint"));
  await world.client.create(Wrapper, Wrapper({ name: "w", namespace: "default", data: { a: "1" } }));
  const manager = world.start([bad.definition, good.definition]);
  await world.settle(manager);
  for (let i = 0; i < 5; i++) {
    const before = [bad.runsMs.length, good.runsMs.length];
    if (i % 2 === 0) await world.client.patch(Candy, key, { spec: { flavors: [`f${i}`] } });
    else await world.client.patch(Wrapper, { name: "w", namespace: "default" }, { data: { a: `v${i}` } });
    await world.run(10);
    await world.settle(manager);
    expect([bad.runsMs.length, good.runsMs.length]).toEqual(before.map((count) => count + 1));
  }
  const errors = world.host.lines.filter(({ level }) => level === "error").map(({ fields }) => fields);
  expect(errors.map((fields) => `${String(fields["function"])} of ${String(fields["resource"])}`).toSorted()).toEqual([
    ...["fairness of candies", "predicate of candies", "priority of candies", "watch predicate of configmaps"],
  ]);
});

test("a busy object runs at its pace, and its last change is not lost", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const { runsMs, definition } = noting(world, {
    rateLimit: { minIntervalMs: 1_000 },
    reconcile: async ({ spec }) => {
      runsMs.push(world.host.clock.monotonic());
      seen.push(spec.flavors.join());
    },
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  for (let i = 0; i < 30; i++) {
    await world.client.patch(Candy, key, { spec: { flavors: [`f${i}`] } });
    await world.run(100);
  }
  await world.run(2_000);
  expect(seen.at(-1)).toBe("f29");
  expect(runsMs.length).toBeLessThanOrEqual(6);
});

test("after a restart a change is not kept waiting by all that is there", async () => {
  await using world = createControllerWorld();
  for (let i = 0; i < 50; i++)
    await world.client.create(Candy, { ...candy(), metadata: { name: `old-${i}`, namespace: "default" } });
  const order: string[] = [];
  const { definition } = noting(world, {
    concurrency: 1,
    reconcile: async ({ metadata }) => {
      order.push(metadata.name);
      await sleep(world.host.clock, 1_000);
    },
  });
  world.start([definition]);
  await world.run(2_500);
  await world.client.create(Candy, candy("mint"));
  await world.run(5_000);
  expect(order.indexOf("lolly")).toBeGreaterThan(0);
  expect(order.indexOf("lolly")).toBeLessThan(5);
});

test("the author says what is urgent and who shares a turn", async () => {
  await using world = createControllerWorld();
  const order: string[] = [];
  const { definition } = noting(world, {
    concurrency: 1,
    priority: ({ spec }) => (spec.flavors.includes("urgent") ? "high" : "normal"),
    fairness: ({ spec }) => spec.flavors[0] ?? "",
    reconcile: async ({ metadata }) => {
      order.push(metadata.name);
      await sleep(world.host.clock, 1_000);
    },
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  const make = (name: string, ...flavors: string[]) =>
    world.client.create(Candy, { ...candy(...flavors), metadata: { name, namespace: "default" } });
  for (let i = 0; i < 10; i++) await make(`x-${i}`, "x");
  await make("y", "y");
  await make("u", "x", "urgent");
  await world.settle(manager);
  expect(order.indexOf("u")).toBeLessThanOrEqual(2);
  expect(order.indexOf("y")).toBeLessThanOrEqual(4);
});

test("sources wake keys while the controller runs, and end with it", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, { sources: [every(10_000)] });
  const manager = world.start([definition]);
  await world.settle(manager);
  await world.run(35_000);
  expect(runsMs.length).toBe(4);
  await world.wait(manager.stop());
  await world.run(60_000);
  expect(runsMs.length).toBe(4);
});

test("a source that fails shows in health as a warning, and the process stays ready", async () => {
  await using world = createControllerWorld();
  const broken = { name: "broker", run: () => Promise.reject(new Error("connection refused")) };
  const manager = world.start([noting(world, { sources: [broken] }).definition]);
  await world.settle(manager);
  await world.run(100);
  const { ok, checks } = manager.readyz();
  expect(ok).toBe(true);
  expect(checks.find(({ name }) => name === "source broker of candy")).toMatchObject({
    ok: false,
    message: "1 failures in a row, the last: connection refused",
  });
  expect(manager.metrics()).toContain('setpoint_source_up{controller="candy",source="broker"} 0');
});

test("an owner that a child no longer names is woken too", async () => {
  await using world = createControllerWorld();
  for (const name of ["first", "second"])
    await world.client.create(Candy, { ...candy(), metadata: { name, namespace: "default" } });
  const woken: string[] = [];
  const { definition } = noting(world, {
    owns: [Wrapper],
    reconcile: async ({ metadata }) => void woken.push(metadata.name),
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  const owner = async (name: string) => ({
    ...{ apiVersion: "example.com/v1", kind: "Candy", name, controller: true },
    uid: (await world.candy(name)).metadata.uid ?? "",
  });
  const child = { name: "w", namespace: "default" };
  await world.client.create(Wrapper, {
    ...Wrapper({ name: "w", namespace: "default", data: {} }),
    metadata: { ...child, ownerReferences: [await owner("first")] },
  });
  await world.settle(manager);
  woken.length = 0;
  await world.client.patch(Wrapper, child, { metadata: { ownerReferences: [await owner("second")] } });
  await world.settle(manager);
  expect(woken.toSorted()).toEqual(["first", "second"]);
});

test("a watched kind's predicate keeps changes that do not matter from waking anybody", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  await world.client.create(Wrapper, Wrapper({ name: "w", namespace: "default", data: { a: "1" } }));
  const { runsMs, definition } = noting(world, {
    watches: [watching(Wrapper, () => [key], { predicate: changed("data") })],
    reconcile: async () => {
      runsMs.push(world.host.clock.monotonic());
      return awaitChange();
    },
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  const before = runsMs.length;
  await world.client.patch(Wrapper, { name: "w", namespace: "default" }, { metadata: { labels: { x: "y" } } });
  await world.settle(manager);
  expect(runsMs.length).toBe(before);
  await world.client.patch(Wrapper, { name: "w", namespace: "default" }, { data: { a: "2" } });
  await world.settle(manager);
  expect(runsMs.length).toBe(before + 1);
});

test("at rest nothing is asked or written, whatever looks again and again", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const wrap = controller(Candy, {
    owns: { wrappers: Wrapper },
    fields: [onChange("spec.flavors", async () => {})],
    daemons: { look: timer(1_000, async (_object, { wake }) => wake()) },
    sources: [every(5_000), cron("* * * * *"), pushSource()],
    maxReconcileIntervalMs: 30_000,
    limits: { deletesPerMinute: 1, childrenChangedShare: 0.1 },
    timeoutMs: 10_000,
    rateLimit: { minIntervalMs: 100 },
    desired: ({ spec }) => ({ children: spec.flavors.map((name) => Wrapper({ name, data: {} })) }),
  });
  world.start([wrap]);
  await world.run(10_000);
  const asked = (): number => world.faults.sent.filter(({ request }) => request.query?.["watch"] === undefined).length;
  const before = asked();
  await world.run(1_200_000);
  expect(asked()).toBe(before);
});
