/**
 * Breaks each promise in the source, one at a time, and looks whether the test that is named for it fails;
 * without a broken promise it must pass. Run: npm run mutants:promises [-- --only retention,restore]
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { asked, refuse } from "../../flags/asked.ts";
import type { PromiseMutant } from "./promise-mutant.ts";
import { promiseMutants } from "./promise-mutants.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const config = "tools/mutants/promises/vitest.config.ts";

/** Whether tests ran, and passed. */
type Outcome = "passed" | "failed" | "none";

function runTest({ test, named }: PromiseMutant, broken: string): Outcome {
  const args = ["run", "--config", config, "--reporter=default", test, "-t", named];
  const { stdout } = spawnSync(`${root}node_modules/.bin/vitest`, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", SETPOINT_PROMISE: broken },
  });
  const [summary = ""] = /^ *Tests .*$/m.exec(stdout) ?? [];
  if (/\d+ failed/.test(summary)) return "failed";
  return /\d+ passed/.test(summary) ? "passed" : "none";
}

function verdict(mutant: PromiseMutant): string | undefined {
  const right = runTest(mutant, "");
  if (right !== "passed") return `its test does not pass without it: ${right}`;
  const wrong = runTest(mutant, mutant.id);
  return wrong === "failed" ? undefined : `NOT FOUND: ${wrong}`;
}

const { values } = asked("break the promises", { options: { only: { type: "string" } } });
const names = values.only?.split(",");
const chosen = promiseMutants.filter(({ id }) => names?.some((name) => id.startsWith(name)) ?? true);
if (chosen.length === 0) refuse(`Cannot break the promises: --only is "${values.only}", and none begins so`);

for (const mutant of chosen) {
  const problem = verdict(mutant);
  if (problem !== undefined) process.exitCode = 1;
  console.log(`${mutant.id}: ${problem ?? `found by "${mutant.named}" in ${mutant.test}`}`);
}
