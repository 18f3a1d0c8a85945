import { describe, expect, test } from "vitest";
import { cluster, primary, replica } from "../plan/situation.fixture.ts";
import { isDenied } from "./matters.ts";

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
    expect(isDenied(status, instances, "answered")).toBe(expected);
  });

  test("a process that has ended counts only where time may pass: a new one remembers the old term", () => {
    const instances = [silent, denying(b), replica(c, { pod: "ended" })];
    expect(isDenied(between(), instances, "answered")).toBe(false);
    expect(isDenied(between(), instances, "answered or ended")).toBe(true);
  });
});
