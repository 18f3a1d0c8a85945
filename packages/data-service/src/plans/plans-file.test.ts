import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readPlans } from "./plans-file.ts";

const gives = z.strictObject({ storage: z.string() });
const builtIn = ["small", "large"].map((name) => ({ name, gives: { storage: "1Gi" } }));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "plans-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string): unknown {
  const file = join(folder, "plans.yaml");
  writeFileSync(file, text);
  return readPlans(file, gives, builtIn);
}

const gold = `
  - name: gold
    description: for shops
    released: 2026-01-31
    deprecated: 2026-06-30
    gives: { storage: 9Gi }`;

test("the plans of a file replace those of the operator", () => {
  const facts = { description: "for shops", released: "2026-01-31", deprecated: "2026-06-30" };
  expect(read(`plans:${gold}`)).toEqual([{ name: "gold", ...facts, gives: { storage: "9Gi" } }]);
});

test("with builtIn they are added, and one of the same name takes its place", () => {
  const own = `\n  - { name: small, gives: { storage: 3Gi } }`;
  const plans = read(`builtIn: true\nplans:${own}${gold}`) as readonly { readonly name: string }[];
  expect(plans.map(({ name }) => name)).toEqual(["large", "small", "gold"]);
  expect(plans[1]).toEqual({ name: "small", gives: { storage: "3Gi" } });
});

test.each([
  ["a field that is missing", "plans: [{ name: gold, gives: {} }]", "plans[0].gives.storage: "],
  ["a field that there is not", "plans: [{ name: gold, gives: { storage: 1Gi, disk: 1 } }]", "plans[0].gives: "],
  ["a name that a label could not have", "plans: [{ name: Gold!, gives: { storage: 1Gi } }]", "plans[0].name: "],
  [
    "a day that there is not",
    "plans: [{ name: gold, withdrawn: 2026-02-30, gives: { storage: 1Gi } }]",
    ".withdrawn: ",
  ],
  [
    "days in the wrong order",
    `plans:${gold}\n    withdrawn: 2026-06-29`,
    "plans[0].withdrawn: 2026-06-29 is before deprecated, 2026-06-30",
  ],
  ["two plans of one name", `plans:${gold}${gold}`, 'plans[1].name: there is another plan "gold"'],
  ["no list of plans", "", 'plans.yaml": Invalid input'],
  ["text that is no YAML", "plans: [", "Cannot use plans"],
])("a file with %s is refused", (_, text, message) => {
  expect(() => read(text)).toThrow(message);
});

test("every fault is reported, with the file", () => {
  const text = "plans: [{ name: gold, gives: {} }, { name: A, gives: { storage: 1Gi } }]";
  expect(() => read(text)).toThrow(/^Cannot use plans ".*plans\.yaml": plans\[0\]\.gives.*; plans\[1\]\.name: /);
});

test("a file that is not there is refused with its name", () => {
  expect(() => readPlans("/nowhere/plans.yaml", gives, builtIn)).toThrow(/"\/nowhere\/plans.yaml": ENOENT/);
});
