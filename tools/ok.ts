/**
 * The one gate: format, lint, types, structure, unused code, tests. Ends with a line `N passed, N failed`, counting each
 * check as one and each test as one, and with exit code 1 when anything failed.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bin = new URL("../node_modules/.bin/", import.meta.url).pathname;
const root = new URL("..", import.meta.url).pathname;

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

function run(command: readonly string[]): boolean {
  const [program = "", ...args] = command;
  return spawnSync(join(bin, program), args, { cwd: root, stdio: "inherit" }).status === 0;
}

function runCheck({ name, command }: Check): void {
  const startedMs = performance.now();
  const ok = run(command);
  if (ok) passed++;
  else failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
}

function runTests(projects: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-ok-"));
  const report = join(folder, "report.json");
  const ok = run([
    "vitest",
    "run",
    ...projects.flatMap((name) => ["--project", name]),
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ]);
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
    passed += numPassedTests;
    // A file that cannot even be loaded fails the run without a failed test.
    failed += numFailedTests + (ok || numFailedTests > 0 ? 0 : 1);
  } catch {
    failed++;
  }
  rmSync(folder, { recursive: true });
}

for (const check of checks) runCheck(check);
runTests(["unit", "sim"]);
runTests(["laws"]);
runTests(["e2e"]);
runTests(["attack"]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
