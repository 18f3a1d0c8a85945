import { expect, test } from "vitest";
import { planRecreate, planRollingUpdate, resolvePercent, type SetCount } from "./rolling-update.ts";

const set = (name: string, wanted: number, available = wanted): SetCount => ({ name, wanted, available });

test.each([
  ["a new Deployment grows at once", 3, 1, 0, set("new", 0), [], { new: 3 }],
  ["an update grows by the surge first", 3, 1, 0, set("new", 0), [set("old", 3)], { new: 1 }],
  ["an old pod goes when the new one is available", 3, 1, 0, set("new", 1), [set("old", 3)], { old: 2 }],
  ["nothing goes while the new one is not available", 3, 1, 0, set("new", 1, 0), [set("old", 3)], {}],
  [
    "an old set that has not yet reported its shrinking does not shrink twice",
    3,
    1,
    0,
    set("new", 1),
    [set("old", 2, 3)],
    { new: 2 },
  ],
  ["broken old pods stay while the new one is not available", 3, 1, 0, set("new", 1, 0), [set("old", 3, 2)], {}],
  ["broken old pods go first", 3, 1, 0, set("new", 1), [set("older", 1), set("old", 2, 1)], { old: 1 }],
  ["as many old pods go as the broken new ones leave", 10, 3, 2, set("new", 3, 0), [set("old", 10)], { old: 8 }],
  ["maxUnavailable allows to shrink before growing", 3, 0, 1, set("new", 0), [set("old", 3)], { old: 2 }],
  ["scaling down shrinks the new set", 1, 1, 0, set("new", 3), [], { new: 1 }],
  ["all is done", 3, 1, 0, set("new", 3), [set("old", 0)], {}],
] as const)("%s", (_claim, replicas, maxSurge, maxUnavailable, current, old, expected) => {
  expect(Object.fromEntries(planRollingUpdate({ replicas, maxSurge, maxUnavailable, current, old }))).toEqual(expected);
});

test("Recreate waits until the last old pod is gone", () => {
  expect(Object.fromEntries(planRecreate(2, set("new", 0), [set("old", 2)], 2))).toEqual({ old: 0 });
  expect(Object.fromEntries(planRecreate(2, set("new", 0), [set("old", 0)], 1))).toEqual({});
  expect(Object.fromEntries(planRecreate(2, set("new", 0), [set("old", 0)], 0))).toEqual({ new: 2 });
});

test("percentages round surge up and unavailability down", () => {
  expect(resolvePercent("25%", 3, "up")).toBe(1);
  expect(resolvePercent("25%", 3, "down")).toBe(0);
  expect(resolvePercent(2, 3, "up")).toBe(2);
});
