import { describe, expect, test } from "vitest";
import { cluster, primary, replica, seen } from "../plan/situation.fixture.ts";
import { consentsAfter, hasLostLease, leaseTo, refusedForMs } from "./consent.ts";
import { denialBy } from "./matters.ts";
import type { Memory } from "./memory.ts";
import type { SeenInstance } from "./seen.ts";

const [a, b, c] = ["orders-1", "orders-2", "orders-3"] as const;
const uid = "uid-orders-1";
const silent = primary(a, { report: "silent" });

describe("leaseTo()", () => {
  const lease = (name: string, moment?: string): object | undefined =>
    leaseTo(cluster(), { name, uid }, { moments: moment === undefined ? {} : { [uid]: moment } });

  test("gives the primary its own moment back", () => {
    expect(lease(a, "x/7")).toEqual({ holder: a, term: 3, moment: "x/7" });
  });
  test("gives nothing to a primary that has not answered yet, and nothing to replicas", () => {
    expect(lease(a)).toBeUndefined();
    expect(lease(b, "x/7")).toBeUndefined();
  });
  test("has no moment for an instance of an older release", () => {
    expect(lease(a, "")).toEqual({ holder: a, term: 3 });
  });
});

describe("consentsAfter()", () => {
  const before: Memory = { since: {}, moments: { [uid]: "x/7" }, consents: { [a]: 500 } };
  const after = (instance: SeenInstance, memory = before): object =>
    consentsAfter(cluster(), [instance, replica(b)], memory, 1_000);

  test("notes when the primary has answered last", () => {
    const answering = primary(a, { report: { moment: "x/9" } });
    expect(after(answering)).toEqual({ moments: { [uid]: "x/9", "uid-orders-2": "" }, consents: { [a]: 1_000 } });
    expect(after(silent)).toMatchObject({ moments: { [uid]: "x/7" }, consents: { [a]: 500 } });
  });
  test("counts the way of a request that has no moment", () => {
    expect(after(silent, { ...before, moments: { [uid]: "" } })).toMatchObject({ consents: { [a]: 3_000 } });
  });
  test("knows nothing of what an earlier process has asked", () => {
    expect(after(silent, { since: {} })).toMatchObject({ consents: { [a]: 3_000 } });
  });
});

test("refusedForMs() counts from the last consent, of instances or of this process", () => {
  const between = cluster({}, { primary: undefined, formerPrimary: a, term: 4 });
  const since = { [denialBy(b, 4)]: 4_000, [denialBy(c, 4)]: 3_000 };
  const refused = (consents: Memory["consents"]): number =>
    refusedForMs(
      seen([silent, replica(b), replica(c)], { cluster: between, monotonicMs: 9_000, memory: { since, consents } }),
    );
  expect(refused({ [a]: 1_000 })).toBe(5_000);
  expect(refused({ [a]: 6_000 })).toBe(3_000);
  expect(refused({ [a]: 9_500 })).toBe(0);
  expect(refused({})).toBe(0);
});

describe("hasLostLease()", () => {
  const others = (...agoMs: readonly number[]): readonly SeenInstance[] =>
    [b, c].map((name, at) => replica(name, { report: { lastGrant: { term: 3, agoMs: agoMs[at] ?? 0 } } }));
  const isLost = (instances: readonly SeenInstance[], heardMs: number): boolean =>
    hasLostLease(
      seen([silent, ...instances], { monotonicMs: 9_000, memory: { since: {}, consents: { [a]: heardMs } } }),
    );

  test.each([
    ["nobody has heard of it for a lease", others(4_000, 4_100), 5_000, true],
    ["an instance has given its consent since", others(3_900, 9_000), 5_000, false],
    ["it has answered this process since", others(9_000, 9_000), 5_001, false],
    ["an instance does not say when it gave its consent", [replica(b), ...others(9_000)], 5_000, false],
  ])("%s", (_, instances, heardMs, expected) => {
    expect(isLost(instances, heardMs)).toBe(expected);
  });
});
