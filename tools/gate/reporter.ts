/** Writes what a test run came to as one JSON file, for the gate's closing lines. */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

/** One test that failed, or that passed only when it was tried again. */
export interface Complaint {
  readonly test: string;
  /** First line of each error, in order. */
  readonly errors: readonly string[];
}

/** Duration of a test or of a file. */
export interface Duration {
  readonly name: string;
  readonly ms: number;
}

/** What a test run came to. */
export interface RunResult {
  passed: number;
  skipped: number;
  failed: Complaint[];
  /** Passed, but not at the first attempt. */
  flaky: Complaint[];
  /** The longest first. */
  slowestTests: readonly Duration[];
  slowestFiles: readonly Duration[];
}

/** How many of the slowest are named. */
const slowestMax = 10;

function slowest(durations: readonly Duration[]): readonly Duration[] {
  return durations.toSorted((a, b) => b.ms - a.ms).slice(0, slowestMax);
}

function complaint(test: string, errors: readonly { readonly message?: string }[] | undefined): Complaint {
  return { test, errors: (errors ?? []).map((error) => (error.message ?? "no message").split("\n", 1)[0] ?? "") };
}

/** A Vitest reporter; its option `file` says where the result is written. */
export default class GateReporter implements Reporter {
  readonly #file: string;
  readonly #result: RunResult = { passed: 0, skipped: 0, failed: [], flaky: [], slowestTests: [], slowestFiles: [] };
  readonly #tests: Duration[] = [];
  readonly #files: Duration[] = [];

  constructor(options: { readonly file: string }) {
    this.#file = options.file;
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    const name = `${relative(process.cwd(), test.module.moduleId)} > ${test.fullName}`;
    this.#tests.push({ name, ms: test.diagnostic()?.duration ?? 0 });
    if (state === "skipped") this.#result.skipped++;
    if (state === "failed") this.#result.failed.push(complaint(name, errors));
    if (state !== "passed") return;
    this.#result.passed++;
    if (test.diagnostic()?.flaky === true) this.#result.flaky.push(complaint(name, errors));
  }

  onTestModuleEnd(module: TestModule): void {
    this.#files.push({ name: relative(process.cwd(), module.moduleId), ms: module.diagnostic().duration });
    // A file that cannot be loaded, or whose hooks throw, fails the run without a failed test.
    const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
    if (errors.length > 0) this.#result.failed.push(complaint(relative(process.cwd(), module.moduleId), errors));
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const error of unhandled) this.#result.failed.push(complaint("outside of any test", [error]));
    this.#result.slowestTests = slowest(this.#tests);
    this.#result.slowestFiles = slowest(this.#files);
    writeFileSync(this.#file, JSON.stringify(this.#result));
  }
}
