import { describe, expect, test } from "vitest";
import { cluster, primary, replica } from "../plan/situation.fixture.ts";
import { denialBy, denialOf, isDenied, mattersOf } from "./matters.ts";
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
    expect(isDenied(status, instances, noMemory, "answered")).toBe(expected);
  });

  test("a process that has ended counts only where time may pass: a new one remembers the old term", () => {
    const instances = [silent, denying(b), replica(c, { pod: "ended" })];
    expect(isDenied(between(), instances, noMemory, "answered")).toBe(false);
    expect(isDenied(between(), instances, noMemory, "answered or ended")).toBe(true);
  });

  test("an answer that is late takes back nothing, and one of an older term does", () => {
    const observed = (instances: Parameters<typeof mattersOf>[1], nowMs: number, before = noMemory): typeof before => {
      const matters = mattersOf(between(), instances, before);
      return remember(before, { matters, lastPosition: undefined, lastTimeline: undefined, nowMs });
    };
    const first = observed([silent, denying(b), denying(c)], 1_000);
    const late = observed([silent, denying(b), replica(c, { report: "silent" })], 2_000, first);
    expect(late.since[denialOf(4)]).toBe(1_000);
    expect(isDenied(between(), [silent, denying(b), replica(c, { report: "silent" })], late, "answered")).toBe(true);
    const back = observed([silent, denying(b), old(c)], 3_000, late);
    expect(back.since[denialOf(4)]).toBeUndefined();
    expect(back.since[denialBy(c, 4)]).toBeUndefined();
  });
});
