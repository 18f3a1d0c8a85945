import { ApiError, failure } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import {
  controller,
  cron,
  every,
  onChange,
  pushSource,
  requeueAfter,
  TemporaryError,
  TerminalError,
  timer,
  type ReconcileOptions,
} from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  noting,
  Wrapper,
  type ControllerWorld,
} from "./controller-world.fixture.ts";

type Reconcile = ReconcileOptions<Candy>["reconcile"];

const key = { name: "lolly", namespace: "default" };

test("a TemporaryError is tried again after exactly its delay, however often it comes", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    reconcile: () => Promise.reject(new TemporaryError("the bank is closed", 7_000)),
  });
  world.start([definition]);
  await world.run(30_000);
  const [first = 0] = runsMs;
  expect(runsMs.map((atMs) => atMs - first)).toEqual([0, 7_000, 14_000, 21_000, 28_000]);
});

test.each([0, -1, 0.001])("a TemporaryError with a delay of %s that comes for ever backs off", async (delayMs) => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    reconcile: () => Promise.reject(new TemporaryError("the bank is closed", delayMs)),
  });
  world.start([definition]);
  await world.run(60_000);
  expect(runsMs.length).toBeLessThan(20);
});

test("a reconcile that asks for another run at once, for ever, keeps nobody else waiting", async () => {
  await using world = createControllerWorld();
  const { runs } = await tenSecondsBeside(world, "hot", async () => requeueAfter(0, "at once"));
  expect(runs).toBe(11);
});

test("a conflict is retried soon, however long the back-off of earlier failures was", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const conflict = new ApiError(failure(409, "Conflict", "it has been modified"));
  const { runsMs, definition } = noting(world, {
    reconcile: () => Promise.reject(runsMs.length > 16 ? conflict : new Error("the bank is closed")),
  });
  world.start([definition]);
  await world.run(1_000_000);
  const pausesMs = runsMs.slice(1).map((atMs, index) => atMs - (runsMs[index] ?? 0));
  expect(Math.max(...pausesMs.slice(0, 16))).toBeGreaterThan(80_000);
  const afterConflicts = pausesMs.slice(16, 40);
  expect(Math.max(...afterConflicts)).toBeLessThanOrEqual(5_000);
  expect(Math.min(...afterConflicts)).toBeGreaterThanOrEqual(2_500);
});

/** How often a candy ran in ten seconds that requeues every second, beside one whose runs end as given. */
async function tenSecondsBeside(world: ControllerWorld, name: string, reconcileOther: Reconcile) {
  await world.client.create(Candy, candy("mint"));
  await world.client.create(Candy, Candy({ name, namespace: "default", spec: { flavors: [] } }));
  let runs = 0;
  const definition = controller(Candy, {
    reconcile: async (object, context) => {
      if (object.metadata.name === name) return reconcileOther(object, context);
      runs++;
      return requeueAfter(1_000, "look again");
    },
  });
  const manager = world.start([definition]);
  await world.run(10_500);
  return { manager, runs };
}

test("a delay that is no number is a failure of its object alone: others are looked at in time", async () => {
  await using world = createControllerWorld();
  const { manager, runs } = await tenSecondsBeside(world, "undated", async ({ spec }) =>
    requeueAfter(Date.parse(spec.flavors.join()), "it melts then"),
  );
  expect(runs).toBe(11);
  const report = await manager.why({ kind: "Candy", name: "undated" });
  expect(report?.runs[0]).toMatchObject({
    result: "error",
    reason:
      'Cannot run again later ("it melts then"): the delay is NaN; expected milliseconds (seconds(30), minutes(5))',
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  "a TemporaryError with a delay of %s keeps nobody waiting but itself",
  async (delayMs) => {
    await using world = createControllerWorld();
    const { manager, runs } = await tenSecondsBeside(world, "closed", () =>
      Promise.reject(new TemporaryError("the bank is closed", delayMs)),
    );
    expect(runs).toBe(11);
    expect((await manager.why({ kind: "Candy", name: "closed" }))?.state).toBe("delayed");
  },
);

test("an object that is to be looked at never again can be asked about", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, {
    reconcile: async () => requeueAfter(Number.POSITIVE_INFINITY, "nothing to do"),
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  expect((await manager.why({ kind: "Candy", name: "lolly" }))?.runs[0]).toMatchObject({ reason: "nothing to do" });
});

test("an object is reconciled at the largest interval, and never without one", async () => {
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
    reconcile: async () => requeueAfter(3_600_000, "in an hour"),
  });
  world.start([definition]);
  await world.run(600_000);
  expect(runsMs.length).toBeGreaterThanOrEqual(9);
});

test("a run that failed for good is still retried after the largest interval", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, {
    maxReconcileIntervalMs: 60_000,
    reconcile: () => Promise.reject(new TerminalError("the spec cannot be done")),
  });
  world.start([definition]);
  await world.run(600_000);
  expect(runsMs.length).toBeGreaterThanOrEqual(9);
  expect(runsMs.length).toBeLessThanOrEqual(13);
});

test("a busy object runs at its pace, and its last change is not lost", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const { runsMs, definition } = noting(world, {
    rateLimit: { minIntervalMs: 1_000 },
    reconcile: async ({ spec }) => void seen.push(spec.flavors.join()),
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
