/** The claims of docs/compared.md: how much an author writes. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url).pathname;

/** Lines that are neither blank nor comments. */
function linesOf(file: string): number {
  const lines = readFileSync(`${root}${file}`, "utf8").split("\n");
  return lines.filter((line) => !/^\s*$|^\s*(\/\/|\/\*\*|\*)/.test(line)).length;
}

test("the smallest operator has at most 30 lines", () => {
  expect(linesOf("candy/candy.ts")).toBeLessThanOrEqual(30);
});

test("a typical operator with its tests has at most 120 lines", () => {
  expect(linesOf("web-app/web-app.ts") + linesOf("web-app/web-app.test.ts")).toBeLessThanOrEqual(120);
});

test("docs/compared.md has the numbers of today", () => {
  const page = readFileSync(`${root}../docs/compared.md`, "utf8");
  const [code, tests] = [linesOf("web-app/web-app.ts"), linesOf("web-app/web-app.test.ts")];
  expect(page).toContain(`**${code + tests} lines: ${code} and ${tests} of tests**`);
  expect(page).toContain(`**${linesOf("candy/candy.ts")}** lines`);
  const [operator, main] = [linesOf("../bench/widget-operator/widget.ts"), linesOf("../bench/widget-operator/main.ts")];
  expect(page).toContain(`**${operator + main}**: ${operator} with types, CRD and role, and ${main} of \`main\``);
  const bench = readFileSync(`${root}../bench/README.md`, "utf8");
  expect(bench).toContain(`an ordinary operator (${operator + main} lines with its kind;`);
  expect(bench).toMatch(new RegExp(`W7 lines with the kind +\\| \\*\\*${operator + main}\\*\\* `));
});
