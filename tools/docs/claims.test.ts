/**
 * docs/frameworks.md claims features: each row that claims one names a page and a test, and the test runs in
 * the gate.
 */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url).pathname;

interface Claim {
  readonly number: string;
  readonly feature: string;
  readonly mark: string;
  readonly page: string | undefined;
  readonly test: string | undefined;
}

/** The rows of the tables: number, feature, mark, text, page, test. */
const claims: readonly Claim[] = readFileSync(`${root}docs/frameworks.md`, "utf8")
  .split("\n")
  .filter((line) => /^\|\s+\d+[a-d]?\s/.test(line))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\||\|$/g, "").trim()))
  .map(([number = "", feature = "", mark = "", , page = "", tested = ""]) => ({
    ...{ number, feature, mark },
    page: linkOf(page),
    test: linkOf(tested),
  }));

test("the page has rows to check", () => {
  expect(claims.length).toBeGreaterThan(70);
});

test.each(claims.filter(({ mark }) => mark !== "–"))(
  "row $number, $feature, names a page and a test that runs",
  (claim) => {
    expect(readFileSync(`${root}${claim.page}`, "utf8")).not.toBe("");
    expect(claim.test, "a test").toBeDefined();
    // A folder stands for all tests in it.
    if (claim.test?.endsWith(".ts") !== true) return;
    expect(claim.test).toMatch(/^(packages|operators|tools)\/.+\.(test|test-d)\.ts$|^(e2e|examples)\/.+\.test\.ts$/);
    const text = readFileSync(`${root}${claim.test}`, "utf8");
    expect(text).toMatch(/\b(test|it|expectTypeOf)\b|@ts-expect-error/);
    expect(text, "a skipped test shows nothing").not.toMatch(/\b(test|it|describe)\.(skip|todo)\(/);
  },
);

function linkOf(cell: string): string | undefined {
  const target = /\]\(([^)#]+)/.exec(cell)?.[1];
  return target === undefined ? undefined : posix.join("docs", target);
}
