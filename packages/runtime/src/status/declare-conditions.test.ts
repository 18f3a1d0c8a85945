import { controller, declareConditions, TerminalError } from "@setpoint/runtime";
import { describe, expect, test } from "vitest";
import { candy, Candy, createControllerWorld, said } from "../run/controller-world.fixture.ts";

const health = declareConditions({
  Available: {
    polarity: "positive",
    reasons: { AllWrapped: "True", Wrapping: "False", NoSuchFlavor: "False", Asking: "Unknown" },
    stalls: ["NoSuchFlavor"],
  },
  Degraded: { polarity: "negative", reasons: { Melting: "True", Cool: "False" } },
  Gift: { polarity: "informative", reasons: { Ribbon: "True", Plain: "False" } },
});

const summary = (
  ...[available, degraded]: readonly ["AllWrapped" | "Wrapping" | "NoSuchFlavor" | "Asking", "Melting" | "Cool"]
) =>
  Object.fromEntries(
    health
      .summary(health.of({ Available: [available, "a"], Degraded: [degraded, "d"], Gift: ["Plain", "g"] }))
      .map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );

describe("Ready, Reconciling and Stalled follow from the declared conditions", () => {
  test.each([
    [
      "all is good",
      ["AllWrapped", "Cool"],
      "True DesiredStateReached",
      "False DesiredStateReached",
      "False NotStalled",
    ],
    ["a positive one is False", ["Wrapping", "Cool"], "False Wrapping", "True Wrapping", "False NotStalled"],
    ["a negative one is True", ["AllWrapped", "Melting"], "False Melting", "True Melting", "False NotStalled"],
    ["one is unknown", ["Asking", "Cool"], "Unknown Asking", "True Asking", "False NotStalled"],
    ["a bad one outweighs an unknown one", ["Asking", "Melting"], "False Melting", "True Melting", "False NotStalled"],
    [
      "only a person can help",
      ["NoSuchFlavor", "Cool"],
      "False NoSuchFlavor",
      "False NoSuchFlavor",
      "True NoSuchFlavor",
    ],
  ] as const)("%s", (_what, [available, degraded], Ready, Reconciling, Stalled) => {
    expect(summary(available, degraded)).toEqual({ Ready, Reconciling, Stalled });
  });

  test("a missing one, and one of an older generation, make Ready unknown", () => {
    const [available, degraded] = health.of({
      Available: ["AllWrapped", ""],
      Degraded: ["Cool", ""],
      Gift: ["Plain", ""],
    });
    const ready = (...conditions: Parameters<typeof health.summary>[0]) => health.summary(conditions, 2)[0]?.status;
    if (available === undefined || degraded === undefined) throw new Error("of() returns all");
    expect(ready(available)).toBe("Unknown");
    expect(ready(available, { ...degraded, observedGeneration: 1 })).toBe("Unknown");
    expect(ready(available, { ...degraded, observedGeneration: 2 })).toBe("True");
  });
});

test("what cannot be meant is refused when the conditions are declared", () => {
  expect(() =>
    // @ts-expect-error: Ready follows from the others
    declareConditions({ Ready: { polarity: "positive", reasons: { Up: "True" } } }),
  ).toThrow('Cannot declare condition "Ready": it follows from the others');
  expect(() =>
    // @ts-expect-error: no such reason
    declareConditions({ Up: { polarity: "positive", reasons: { Up: "True" }, stalls: ["Down"] } }),
  ).toThrow('Cannot declare condition "Up": it stalls by "Down", which is none of its reasons');
});

/** Says that all is wrapped once there is a flavor. */
const wrapping = controller(Candy, {
  health,
  async reconcile({ spec }, { condition, status }) {
    if (spec.flavors.includes("broken")) throw new Error("the machine is broken");
    if (spec.flavors.includes("soap")) throw new TerminalError("soap is no flavor");
    if (spec.flavors.length === 0) return;
    condition(...health.of({ Available: ["AllWrapped", "1 of 1"], Degraded: ["Cool", "12 °C"], Gift: ["Plain", ""] }));
    await status({ wrappers: spec.flavors.length });
  },
});

test("every condition is there from the first visit, also when the run failed or said nothing", async () => {
  for (const [flavors, ready] of [
    [[], "Ready Unknown"],
    [["broken"], "Ready False"],
  ] as const) {
    await using world = createControllerWorld();
    await world.client.create(Candy, candy(...flavors));
    world.start([wrapping]);
    await world.run(60_000);
    const present = await world.candy();
    expect(present.status?.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "Available Unknown",
      "Degraded Unknown",
      "Gift Unknown",
      ready,
      "Reconciling True",
      "Stalled False",
    ]);
    if (flavors.length === 0) expect(world.writes()).toEqual(["PATCH candies/lolly/status"]);
  }
});

test("a healthy object costs one write, says which generation it is about, and nothing is written at rest", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrapping]);
  await world.settle(manager);
  expect(said(await world.candy(), "Ready")).toBe("True DesiredStateReached: Desired state reached");
  expect(world.writes()).toEqual(["PATCH candies/lolly/status"]);
  await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime", "mint"] } });
  await world.settle(manager);
  const { status, metadata } = await world.candy();
  expect(metadata.generation).toBe(2);
  expect(status?.observedGeneration).toBe(2);
  expect(status?.conditions?.map((each) => each.observedGeneration)).toEqual([2, 2, 2, 2, 2, 2]);
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect(world.writes().length).toBe(2);
});

test("a terminal error stalls the object in its own words, until a run ends well", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "soap"));
  const manager = world.start([wrapping]);
  await world.settle(manager);
  const stalled = await world.candy();
  expect(said(stalled, "Stalled")).toBe("True Terminal: soap is no flavor");
  expect(said(stalled, "Ready")).toBe("False Terminal: soap is no flavor");
  expect(said(stalled, "Reconciling")).toMatch(/^False/);
  await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["mint"] } });
  await world.settle(manager);
  const fixed = await world.candy();
  expect(said(fixed, "Stalled")).toMatch(/^False NotStalled/);
  expect(said(fixed, "Ready")).toMatch(/^True/);
});

test("a change that the cache shows during a run does not count as observed", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const slow = controller(Candy, {
    async reconcile({ metadata }, { status, get }) {
      if (metadata.generation === 1) {
        await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime"] } });
        while (get(Candy, "lolly")?.metadata.generation === 1) await Promise.resolve();
      }
      await status({ wrappers: metadata.generation ?? 0 });
      if (metadata.generation === 1)
        expect((await world.candy()).status).toEqual({ wrappers: 1, observedGeneration: 1 });
    },
  });
  await world.settle(world.start([slow]));
  expect((await world.candy()).status).toEqual({ wrappers: 2, observedGeneration: 2 });
});
