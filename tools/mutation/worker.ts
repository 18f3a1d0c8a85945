/** Runs test files against one mutant after the other, in a process that can be ended when a mutant never ends. */
import { writeFileSync } from "node:fs";
import { createVitest } from "vitest/node";

export interface Task {
  readonly mutant: number;
  readonly testFiles: readonly string[];
}

export interface Verdict {
  readonly mutant: number;
  readonly isKilled: boolean;
}

const aliveFile = process.env["SETPOINT_MUTANT_FILE"] ?? "";
const config = new URL("./vitest.config.ts", import.meta.url).pathname;

const vitest = await createVitest("test", { config, watch: false, bail: 1 });
await vitest.standalone();

process.on("message", (task: Task) => void run(task));
process.send?.("ready");

async function run({ mutant, testFiles }: Task): Promise<void> {
  writeFileSync(aliveFile, String(mutant));
  const wanted = new Set(testFiles);
  const specifications = (await vitest.globTestSpecifications()).filter(({ moduleId }) => wanted.has(moduleId));
  if (specifications.length === 0) throw new Error(`Cannot find the test files ${testFiles.join(", ")}`);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const isKilled = unhandledErrors.length > 0 || testModules.some((each) => !each.ok());
  process.send?.({ mutant, isKilled } satisfies Verdict);
}
