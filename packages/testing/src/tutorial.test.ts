/**
 * The examples of docs/simulated-world.md and docs/exploring.md: they run under node:test, outside of vitest,
 * and each page shows what runs.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const examples = [
  { page: "simulated-world", fixture: "tutorial", passing: 3 },
  { page: "simulated-world", fixture: "outside-model", passing: 1 },
  { page: "exploring", fixture: "exploring", passing: 1 },
];

/** An example explores for some seconds, which a busy machine makes a minute. */
const timeout = 120_000;

test.each(examples)("the example $fixture of $page runs under node:test", { timeout }, async ({ fixture, passing }) => {
  const args = ["--conditions=@setpoint/source", "--test", "--test-reporter=tap", pathOf(fixture)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain(`# pass ${passing}`);
  expect(stdout).toContain("# fail 0");
});

test.each(examples)("the page $page shows the code of $fixture that runs", ({ page, fixture }) => {
  const shown = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), "utf8");
  expect(shown).toContain(readFileSync(pathOf(fixture), "utf8").trim());
});

function pathOf(fixture: string): string {
  return new URL(`${fixture}.fixture.ts`, import.meta.url).pathname;
}
