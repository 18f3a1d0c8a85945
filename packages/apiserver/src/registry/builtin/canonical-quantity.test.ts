import { quantityProblem } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { canonicalQuantity } from "./canonical-quantity.ts";
import recorded from "./fixtures/quantities.json" with { type: "json" };

/** What a kube-apiserver stored in a list of resources, and in a field alone (not if negative). */
interface Recorded {
  readonly text: string;
  readonly listed?: string;
  readonly alone?: string;
  readonly refused?: string;
}

/** Texts whose answer differs on purpose, with the reason. */
const allowed: Readonly<Record<string, string>> = {
  "1000E": "upstream loses the suffix and stores 1",
  "+-1": "upstream reports the suffix of a text that is no number",
};

/** Upstream takes a text without a number for zero. */
const hasNoNumber = ({ text, listed }: Recorded): boolean => listed !== undefined && !/^ *[+-]?\.?\d/.test(text);

test.each((recorded as readonly Recorded[]).filter(({ text }) => allowed[text] === undefined))(
  "the quantity $text is stored as by kube-apiserver",
  (each) => {
    const problem = quantityProblem(each.text);
    if (hasNoNumber(each)) return expect(problem).toMatch(/^quantities must match/);
    expect(problem).toBe(each.refused);
    if (each.refused !== undefined) return undefined;
    expect(canonicalQuantity(each.text, "milli")).toBe(each.listed);
    if (each.alone !== undefined) expect(canonicalQuantity(each.text, "nano")).toBe(each.alone);
    return undefined;
  },
);

test.each([
  [1, "1"],
  [0.5, "500m"],
  [9007199254740993n, "9007199254740993"],
])("the number %s is the quantity %s", (number, stored) => {
  expect(canonicalQuantity(number, "milli")).toBe(stored);
});

test.each([true, {}, [], Number.POSITIVE_INFINITY])("%s is no quantity", (value) => {
  expect(quantityProblem(value)).toMatch(/^quantities must match/);
});

test("a number whose exponent has ten digits is refused at once", () => {
  expect(quantityProblem("1e2147483648")).toBe("unable to parse quantity's suffix");
});
