import { controller, declareConditions, requeueAfter, TerminalError, type ReconcileOptions } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  noting,
  notesOf,
  said,
  type ControllerWorld,
} from "./controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

/** A reconcile that throws as long as `broken` has a message. */
function failing(world: ControllerWorld, options: Partial<ReconcileOptions<Candy>> = {}) {
  const broken: { message: string | undefined } = { message: "the sugar is wet" };
  const { reconcile = async () => {} } = options;
  const { definition, runsMs } = noting(world, {
    ...options,
    async reconcile(object, context) {
      if (broken.message !== undefined) throw new Error(broken.message);
      return reconcile(object, context);
    },
  });
  return { broken, definition, runsMs };
}

test("an error that a reconcile throws twice is on the object: Ready=False with the message and the next retry, and an event", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = failing(world);
  world.start([definition]);
  await world.run(1_000);
  const message = "Reconcile failed: the sugar is wet. Next retry in at most 10 s.";
  expect(said(await world.candy(), "Ready")).toBe(`False ReconcileFailed: ${message}`);
  expect(await notesOf(world, "ReconcileFailed")).toEqual([message]);
});

test("a single failure is daily life and not reported", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition, broken, runsMs } = failing(world);
  world.start([definition]);
  await world.host.clock.run(1_000, () => runsMs.length === 1);
  broken.message = undefined;
  await world.run(60_000);
  expect(runsMs).toHaveLength(2);
  expect(world.writes()).toEqual([]);
  expect(await notesOf(world, "ReconcileFailed")).toEqual([]);
});

test("while only the time of the retry changes the condition is written a few times in an hour, and not at each retry", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition, runsMs } = failing(world);
  world.start([definition]);
  await world.run(3_600_000);
  expect(runsMs.length).toBeGreaterThan(15);
  expect(world.writes().length).toBeLessThanOrEqual(4);
  expect(said(await world.candy(), "Ready")).toContain("Next retry in at most 20 min.");
});

test("an error whose text changes at each retry is written every ten seconds at most", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let attempt = 0;
  const { definition } = noting(world, { reconcile: () => Promise.reject(new Error(`attempt ${++attempt}`)) });
  world.start([definition]);
  await world.run(9_000);
  expect(attempt).toBeGreaterThan(8);
  expect(world.writes()).toEqual(["PATCH candies/lolly/status"]);
});

test("when the reconcile succeeds again the failure is gone from the object, and an event says so", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition, broken } = failing(world);
  const manager = world.start([definition]);
  await world.run(1_000);
  broken.message = undefined;
  await world.run(60_000);
  await world.settle(manager);
  expect(said(await world.candy(), "Ready")).toBeUndefined();
  expect(await notesOf(world, "ReconcileSucceeded")).toHaveLength(1);
  const writes = world.writes().length;
  manager.enqueue("candy", key);
  await world.run(60_000);
  expect(world.writes()).toHaveLength(writes);
});

test("a Ready that the author states is back after the failure, and does not flap while it lasts", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let isBroken = true;
  const { definition, runsMs } = noting(world, {
    async reconcile(_object, { condition, status }) {
      condition({ type: "Ready", status: "True", reason: "Sweet", message: "it is sweet" });
      await status({ wrappers: 1 });
      if (isBroken) throw new Error("the sugar is wet");
    },
  });
  world.start([definition]);
  await world.run(20_000);
  expect(runsMs.length).toBeGreaterThan(8);
  expect(said(await world.candy(), "Ready")).toContain("False ReconcileFailed");
  expect(world.writes().length).toBeLessThanOrEqual(4);
  isBroken = false;
  await world.run(60_000);
  expect(said(await world.candy(), "Ready")).toBe("True Sweet: it is sweet");
});

test("with declared conditions Ready is the failure until the reconcile succeeds, and the object is being reconciled", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const health = declareConditions({ Sweet: { polarity: "positive", reasons: { Sugar: "True" } } });
  const { definition, broken } = failing(world, {
    health,
    async reconcile(_object, { condition }) {
      condition({ type: "Sweet", status: "True", reason: "Sugar", message: "there is sugar" });
    },
  });
  world.start([definition]);
  await world.run(1_000);
  expect(said(await world.candy(), "Ready")).toContain("False ReconcileFailed: Reconcile failed: the sugar is wet.");
  expect(said(await world.candy(), "Reconciling")).toContain("True ReconcileFailed");
  broken.message = undefined;
  await world.run(60_000);
  expect(said(await world.candy(), "Ready")).toMatch(/^True/);
  expect(said(await world.candy(), "Reconciling")).toMatch(/^False/);
});

test("the reason that the author states for Ready=False stands, and the event has the retry", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, {
    async reconcile(_object, { condition }) {
      condition({ type: "Ready", status: "False", reason: "SugarWet", message: "the sugar is wet" });
      throw new Error("no candy");
    },
  });
  world.start([definition]);
  await world.run(9_000);
  expect(said(await world.candy(), "Ready")).toBe("False SugarWet: the sugar is wet");
  expect(world.writes()).toHaveLength(1);
  expect(await notesOf(world, "ReconcileFailed")).toEqual(["Reconcile failed: no candy. Next retry in at most 10 s."]);
});

test("a TerminalError makes an object not ready, for it waits for a change", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("soap"));
  const terminal = controller(Candy, {
    async reconcile({ spec }) {
      if (spec.flavors.includes("soap")) throw new TerminalError("soap is no flavor");
    },
  });
  world.start([terminal]);
  await world.run(1_000);
  expect(said(await world.candy(), "Ready")).toContain("False ReconcileFailed: Reconcile failed: soap is no flavor.");
  expect(said(await world.candy(), "Stalled")).toContain("True Terminal");
  await world.client.patch(Candy, key, { spec: { flavors: ["mint"] } });
  await world.run(1_000);
  expect(said(await world.candy(), "Ready")).toBeUndefined();
});

test("a reconcile that takes longer than its timeout again and again is reported on the object too", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, {
    timeoutMs: 1_000,
    reconcile: (_object, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  world.start([definition]);
  await world.run(10_000);
  expect(said(await world.candy(), "Ready")).toContain("1000 ms");
});

test("conflicts are reported only when they come in a row", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let runs = 0;
  const { definition } = noting(world, {
    async reconcile(object, { client }) {
      if (++runs > 4) return requeueAfter(3_600_000, "rest");
      await client.update(Candy, { ...object, metadata: { ...object.metadata, resourceVersion: "1" } });
      return undefined;
    },
  });
  world.start([definition]);
  await world.run(60_000);
  expect(runs).toBeGreaterThan(4);
  expect(said(await world.candy(), "Ready")).toBeUndefined();
});
