/**
 * The one gate: format, lint, types, structure, unused code, tests. Ends with a line `N passed, N failed`,
 * counting each check as one and each test as one, and with exit code 1 when anything failed.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Complaint, RunResult } from "./reporter.ts";

const bin = new URL("../../node_modules/.bin/", import.meta.url).pathname;
const root = new URL("../..", import.meta.url).pathname;

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Check[] = [
  { name: "format", command: ["oxfmt", "--check", "."] },
  { name: "types", command: ["tsc", "-p", "tsconfig.check.json"] },
  { name: "build", command: ["tsc", "-b", "operators/etcd", "packages/cli", "packages/testing"] },
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

function run(command: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  const [program = "", ...args] = command;
  return (
    spawnSync(join(bin, program), args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } }).status === 0
  );
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

function runTests(...projects: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-gate-"));
  const file = join(folder, "result.json");
  const ok = run(["vitest", "run", ...projects.flatMap((name) => ["--project", name])], {
    SETPOINT_GATE_RESULT: file,
  });
  const failedBefore = failed;
  try {
    const result = JSON.parse(readFileSync(file, "utf8")) as RunResult;
    passed += result.passed;
    failed += result.failed.length;
    complaints.push(...result.failed.map((each) => describe("FAIL", each)));
    complaints.push(...result.flaky.map((each) => describe("FLAKY: passed when tried again,", each)));
    if (result.skipped > 0) complaints.push(`SKIPPED ${result.skipped} tests of ${projects.join(", ")}`);
  } catch {
    // Counted below: a run without a result did not pass.
  }
  rmSync(folder, { recursive: true });
  if (ok || failed > failedBefore) return;
  failed++;
  complaints.push(`FAIL ${projects.join(", ")}: the test run itself ended with an error`);
}

function describe(word: string, { test, errors }: Complaint): string {
  return [`${word} ${test}`, ...errors.map((error) => `  ${error.slice(0, 300)}`)].join("\n");
}

for (const check of checks) runCheck(check);
runTests("unit", "sim");
runTests("laws");
runTests("e2e");
runTests("attack");
runTests("attack-load");
if (complaints.length > 0) console.log(`\n${complaints.join("\n")}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
