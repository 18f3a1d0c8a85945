/** Holds all tests in one process and runs some of them against one mutant after the other. */
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { instrumentedFiles } from "./instrumented-files.ts";
import type { CollectedTest } from "./vitest-stand-in.ts";

/** A mutant under which a test takes so much longer than it does without is taken for one that never ends. */
const testMsMax = 3000;
const slownessMax = 10;

/** The first message: everything is imported. `imported` are mutants that importing alone reaches. */
export interface Ready {
  readonly imported: readonly number[];
  readonly testCount: number;
}

/**
 * Without a mutant the process surveys a test; with one the test must fail. It reports each test that begins,
 * so that the parent notices a loop soon.
 */
export interface Task {
  readonly mutant?: number;
  readonly tests: readonly TimedTest[];
}

export interface TimedTest {
  readonly index: number;
  readonly durationMs: number;
}

export type Answer = Survey | Verdict;

export interface Survey extends TimedTest {
  readonly file: string;
  readonly name: string;
  readonly failure?: string;
  readonly reached: readonly number[];
}

/**
 * "unsure": the test that failed also fails without a mutant from now on, so this process is of no more use.
 */
export interface Verdict {
  readonly fate: "killed" | "survived" | "endless" | "unsure";
  /** The test that failed or never ended. */
  readonly by?: number;
}

type Outcome = { readonly kind: "passed" } | { readonly kind: "endless" } | { readonly kind: "failed"; why: string };

const standIn = new URL("./vitest-stand-in.ts", import.meta.url).href;
const instrumented = instrumentedFiles();
const reached = new Set<number>();
let alive = Number(process.env["SETPOINT_MUTANT"] ?? "0");
let stray: unknown;

const isAlive = (id: number): boolean => id === alive;
const note = (id: number): boolean => {
  reached.add(id);
  return id === alive;
};
const mutantPort = globalThis as { __setpointMutant?: (id: number) => boolean };

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "vitest" && context.parentURL !== standIn
      ? { url: standIn, shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) => {
    const code = url.startsWith("file:") ? instrumented.get(fileURLToPath(url))?.code : undefined;
    return code === undefined ? next(url, context) : { format: "module-typescript", source: code, shortCircuit: true };
  },
});

process.on("unhandledRejection", (reason) => (stray ??= reason));
process.on("uncaughtException", (error) => (stray ??= error));

// A failed property is enough: how small it can be made says nothing here. The seed makes a campaign
// repeatable.
fc.configureGlobal({ endOnFailure: true, seed: 1 });

mutantPort.__setpointMutant = note;
const { collectTests, collectedTests } = await import(standIn);
for (const file of process.argv.slice(2)) await collectTests(file);
process.on("disconnect", () => process.exit());
process.on("message", (task: Task) => void answer(task));
process.send?.({ imported: [...reached], testCount: collectedTests.length } satisfies Ready);

async function answer({ mutant, tests }: Task): Promise<void> {
  const found = mutant === undefined ? await survey(tests[0]) : await verdict(mutant, tests);
  process.send?.(found);
}

async function survey(test: TimedTest | undefined): Promise<Survey> {
  const index = test?.index ?? 0;
  mutantPort.__setpointMutant = note;
  reached.clear();
  const startedMs = performance.now();
  const outcome = await run({ index, durationMs: testMsMax });
  const durationMs = performance.now() - startedMs;
  const { file, name } = testAt(index);
  return {
    index,
    durationMs,
    file,
    name,
    reached: [...reached],
    ...(outcome.kind === "passed" ? {} : { failure: outcome.kind === "failed" ? outcome.why : "never ended" }),
  };
}

async function verdict(mutant: number, tests: readonly TimedTest[]): Promise<Verdict> {
  mutantPort.__setpointMutant = isAlive;
  for (const test of tests) {
    process.send?.(test);
    alive = mutant;
    const outcome = await run(test);
    alive = 0;
    const by = test.index;
    if (outcome.kind === "endless") return { fate: "endless", by };
    if (outcome.kind === "failed")
      return (await run(test)).kind === "passed" ? { fate: "killed", by } : { fate: "unsure", by };
  }
  return { fate: "survived" };
}

function testAt(index: number): CollectedTest {
  const test = collectedTests[index];
  if (test === undefined) throw new Error(`Cannot run test ${index}: there are ${collectedTests.length}`);
  return test;
}

async function run({ index, durationMs }: TimedTest): Promise<Outcome> {
  stray = undefined;
  const patience = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => patience.resolve({ kind: "endless" }), testMsMax + slownessMax * durationMs);
  const outcome = await Promise.race([settled(testAt(index)), patience.promise]);
  clearTimeout(timer);
  return outcome;
}

async function settled(test: CollectedTest): Promise<Outcome> {
  try {
    await test.run();
    // Node reports unhandled rejections after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    return stray === undefined ? { kind: "passed" } : { kind: "failed", why: String(stray) };
  } catch (error) {
    return { kind: "failed", why: String(error) };
  }
}
