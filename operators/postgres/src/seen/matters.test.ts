import { describe, expect, test } from "vitest";
import { cluster, primary, replica } from "../plan/situation.fixture.ts";
import { denialBy, deniedSinceMs, endOf, isDenied, mattersOf, termOf } from "./matters.ts";
import { noMemory, remember } from "./memory.ts";

const [a, b, c, d, e] = ["orders-1", "orders-2", "orders-3", "orders-4", "orders-5"] as const;
const between = (voters: readonly string[] = [a, b, c]): ReturnType<typeof cluster> =>
  cluster({}, { primary: undefined, formerPrimary: a, term: 4, voters: [...voters] });
const silent = primary(a, { report: "silent" });
const denying = (name: string): ReturnType<typeof replica> => replica(name, { report: { term: 4 } });
const old = (name: string): ReturnType<typeof replica> => replica(name);

describe("the former primary gets no lease", () => {
  test.each([
    ["from two of three that follow the new term", between(), [silent, denying(b), denying(c)], true],
    ["while one of the others may still grant it", between(), [silent, denying(b), old(c)], false],
    ["from its only peer", between([a, b]), [silent, denying(b)], true],
    // It may still follow the document of five, whose majority the three others are.
    ["by two of the three that are left of five", between([a, b, c, d, e]), [silent, denying(b), denying(c)], false],
    // It may follow the document of five already: two of three that it had before are no majority of them.
    ["by two of three, when five are there now", between(), [silent, denying(b), denying(c), old(d), old(e)], false],
    ["without a former primary, nobody is denied", cluster(), [primary(a), denying(b), denying(c)], false],
  ] as const)("%s", (_, status, instances, expected) => {
    expect(isDenied(status, instances, noMemory)).toBe(expected);
  });

  const observed = (instances: Parameters<typeof mattersOf>[1], nowMs: number, before = noMemory): typeof before => {
    const matters = mattersOf(between(), instances, before, { askedMs: nowMs - 10, nowMs });
    return remember(before, { matters });
  };

  test("a process that has ended counts only where time may pass: a new one remembers the old term", () => {
    const ended = replica(c, { pod: "ended" });
    const instances = [silent, denying(b), ended];
    expect(isDenied(between(), instances, noMemory)).toBe(false);
    expect(deniedSinceMs(between(), instances, observed(instances, 1_000))).toBe(1_000);
    // Its end was seen long ago; a new process may have come unseen.
    const long = { since: { ...observed(instances, 1_000).since, [endOf(ended)]: 0, [termOf(4)]: 900 } };
    expect(deniedSinceMs(between(), instances, long)).toBe(1_000);
  });

  test("an instance denies since the last consent that it gave in an earlier term", () => {
    const said = (name: string, term: number, agoMs: number): ReturnType<typeof replica> =>
      replica(name, { report: { term: 4, lastGrant: { term, agoMs } } });
    const since = (...others: readonly ReturnType<typeof replica>[]): number | undefined => {
      const instances = [silent, ...others];
      return deniedSinceMs(between(), instances, observed(instances, 10_000));
    };
    expect(since(said(b, 3, 4_000), said(c, 3, 1_000))).toBe(9_000);
    // What it gave before it gave one to the next primary, it does not say any more.
    expect(since(said(b, 3, 4_000), said(c, 4, 1_000))).toBe(10_000);
    // An instance of an older release says nothing.
    expect(since(said(b, 3, 4_000), denying(c))).toBe(10_000);
  });

  test("an answer that is late takes back nothing, and one of an older term does", () => {
    const missing = [silent, denying(b), replica(c, { report: "silent" })];
    const first = observed([silent, denying(b), denying(c)], 1_000);
    const late = observed(missing, 2_000, first);
    expect(deniedSinceMs(between(), missing, late)).toBe(1_000);
    expect(isDenied(between(), missing, late)).toBe(true);
    const back = observed([silent, denying(b), old(c)], 3_000, late);
    expect(deniedSinceMs(between(), [silent, denying(b), old(c)], back)).toBeUndefined();
    expect(back.since[denialBy(c, 4)]).toBeUndefined();
  });
});
