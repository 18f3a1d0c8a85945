/**
 * The tutorial of docs/simulated-world.md: it runs under node:test, outside of vitest, and the page shows
 * what runs.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const fixture = new URL("tutorial.fixture.ts", import.meta.url).pathname;
const page = new URL("../../../docs/simulated-world.md", import.meta.url).pathname;

test("worlds run under node:test", async () => {
  const args = ["--conditions=@setpoint/source", "--test", "--test-reporter=tap", fixture];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain("# pass 3");
  expect(stdout).toContain("# fail 0");
});

test("the page shows the code that runs", () => {
  const shown = readFileSync(page, "utf8");
  expect(shown).toContain(readFileSync(fixture, "utf8").trim());
});
