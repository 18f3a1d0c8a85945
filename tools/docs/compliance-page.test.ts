/** The page of compliance lists the acts that there are. */
import { readFileSync } from "node:fs";
import { catalogue } from "../../operators/compliance-probe/src/index.ts";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../../docs/compliance.md", import.meta.url), "utf8");
const rows = page.slice(page.indexOf("## The acts")).split("\n");

test("docs/compliance.md lists each act with what it tries, why it must be denied, and how bad it is", () => {
  const listed = rows
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
  expect(listed.map(([, ...cells]) => cells.slice(0, 4))).toEqual(
    catalogue.map(({ name, tries, because, severity }) => [name, tries, because, severity]),
  );
});
