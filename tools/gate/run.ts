/**
 * The gate: format, lint, types, structure, unused code, tests; with `--all` also the long end-to-end tests
 * and the attacks, laws for twice as long, and, where their parts are there, some of upstream's conformance
 * suite and the tour on a real cluster. Ends
 * with a line `N passed, N failed`, counting each check as one and each test as one, and with exit code 1
 * when anything failed.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findReference } from "../../e2e/cluster/reference.ts";
import { findSuite } from "../../e2e/conformance/suite-build.ts";
import type { Complaint, Duration, RunResult } from "./reporter.ts";

const takesAll = process.argv.includes("--all");
const lawsTimes = { SETPOINT_LAWS_TIMES: takesAll ? "1" : "0.5" };
const bin = new URL("../../node_modules/.bin/", import.meta.url).pathname;
const root = new URL("../..", import.meta.url).pathname;

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Check[] = [
  { name: "format", command: ["oxfmt", "--check", "."] },
  { name: "types", command: ["tsc", "-p", "tsconfig.check.json"] },
  { name: "build", command: ["tsc", "-b", "tsconfig.build.json"] },
  // After the build: the type-aware linter reads tests by the built declarations.
  { name: "lint", command: ["oxlint", "--type-aware", "--quiet"] },
  { name: "tidy", command: ["node", "--conditions=@setpoint/source", "tools/tidy/tidy.ts"] },
  { name: "unused", command: ["knip", "--no-progress"] },
  { name: "packages", command: ["node", "--conditions=@setpoint/source", "tools/publish/check-packages.ts"] },
];

let passed = 0;
let failed = 0;
/** What the closing lines say, so that nobody has to look for it further up. */
const complaints: string[] = [];

function run(command: readonly string[]): boolean {
  const [program = "", ...args] = command;
  return spawnSync(join(bin, program), args, { cwd: root, stdio: "inherit" }).status === 0;
}

function runCheck({ name, command }: Check): void {
  const startedMs = performance.now();
  const ok = run(command);
  if (ok) passed++;
  else {
    failed++;
    complaints.push(`FAIL ${name}`);
  }
  console.log(`${ok ? "ok  " : "FAIL"} ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
}

/** Runs Vitest; its result is in `file`. */
async function vitest(projects: readonly string[], file: string): Promise<boolean> {
  const child = spawn(join(bin, "vitest"), ["run", ...projects.flatMap((name) => ["--project", name])], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...(projects.includes("laws") ? lawsTimes : {}), ...process.env, SETPOINT_GATE_RESULT: file },
  });
  const code = await new Promise((resolve) => {
    child.once("error", resolve);
    child.once("close", resolve);
  });
  return code === 0;
}

async function runTests(projects: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-gate-"));
  const file = join(folder, "result.json");
  const ok = await vitest(projects, file);
  const failedBefore = failed;
  try {
    const result = JSON.parse(readFileSync(file, "utf8")) as RunResult;
    passed += result.passed;
    failed += result.failed.length;
    complaints.push(...result.failed.map((each) => describe("FAIL", each)));
    complaints.push(...result.flaky.map((each) => describe("FLAKY: passed when tried again,", each)));
    console.log(
      `slowest of ${projects.join(", ")}:\n${durationLines([...result.slowestFiles, ...result.slowestTests])}`,
    );
    if (result.skipped > 0) complaints.push(`SKIPPED ${result.skipped} tests of ${projects.join(", ")}`);
  } catch {
    // Counted below: a run without a result did not pass.
  }
  rmSync(folder, { recursive: true });
  if (ok || failed > failedBefore) return;
  failed++;
  complaints.push(`FAIL ${projects.join(", ")}: the test run itself ended with an error`);
}

/** Takes a minute. Where it cannot run, the closing lines say why. */
function runOnRealCluster(): void {
  const reference = findReference();
  if (typeof reference === "string") complaints.push(`SKIPPED e2e:cluster: ${reference}`);
  else runCheck({ name: "e2e:cluster", command: ["node", "--conditions=@setpoint/source", "e2e/cluster/run.ts"] });
}

/** A part of upstream's suite, where it is built: building it takes longer than all of this. */
function runConformance(): void {
  const suite = findSuite();
  if (typeof suite === "string") complaints.push(`SKIPPED conformance: ${suite}`);
  else
    runCheck({
      name: "conformance",
      command: ["node", "--conditions=@setpoint/source", "e2e/conformance/run.ts", "--fast"],
    });
}

function durationLines(durations: readonly Duration[]): string {
  return durations.map(({ name, ms }) => `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}`).join("\n");
}

function describe(word: string, { test, errors }: Complaint): string {
  return [`${word} ${test}`, ...errors.map((error) => `  ${error.slice(0, 300)}`)].join("\n");
}

for (const check of checks) runCheck(check);
await runTests(["unit", "sim"]);
await runTests(["laws"]);
// Together, so that the long ones, most of which is waiting, begin first and the others fill the cores.
await runTests(takesAll ? ["e2e", "long"] : ["e2e"]);
if (takesAll) {
  await runTests(["attack"]);
  // Measures times, so nothing else may run.
  await runTests(["attack-load"]);
  runConformance();
  runOnRealCluster();
} else {
  console.log(
    "Left out: long end-to-end tests, attacks, half of the laws, and a real cluster; `npm test -- --all` runs them too.",
  );
}
if (complaints.length > 0) console.log(`\n${complaints.join("\n")}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
