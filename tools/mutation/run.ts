/**
 * Mutation testing of the framework's core: each small wrong version of it must be noticed by a test.
 * Run: npm run mutation [-- --files work-queue,store --sample 50 --seed 1 --resume /tmp/killed]
 */
import { appendFileSync, existsSync, globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { asked, wholeNumber } from "../flags/asked.ts";
import { instrumentedFiles } from "./instrumented-files.ts";
import type { Mutant } from "./mutants.ts";
import { MutationWorker } from "./mutation-worker.ts";
import { described, report, type Fates } from "./report.ts";
import type { TimedTest, Verdict } from "./test-process.ts";

const root = new URL("../..", import.meta.url).pathname;
/**
 * Without scenarios: long stories reach every line and pin down few; what they alone would notice is better
 * said by a test of its own.
 */
const testFilePatterns = ["packages/runtime/src/**/*.test.ts", "packages/client/src/**/*.test.ts"];
/**
 * So is what others would notice than the tests of the mutant's own folder: of those only some that are quick
 * are asked.
 */
const nearMsMax = 1000;
const elsewhereMsMax = 500;
const elsewhereTestsMax = 100;
/** A process that has run so many mutants is replaced, for what they left behind adds up. */
const mutantsPerProcessMax = 200;

const { values: options } = asked("test by mutation", {
  options: {
    /** Parts of file names, separated by commas, in the order in which they are tried. */
    files: { type: "string", default: "" },
    /** How many mutants, chosen at random; all when absent. */
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    /** A file that remembers what was killed; it is not tried again while its source is the same. */
    resume: { type: "string" },
  },
});

const testFiles = globSync(testFilePatterns, { cwd: root })
  .filter((file) => !file.includes(".scenario."))
  .toSorted()
  .map((file) => root + file);
const all = [...instrumentedFiles().values()].flatMap(({ mutants }) => mutants);
const chosen = choose(all);
const remembered = new Set(
  options.resume !== undefined && existsSync(options.resume) ? readFileSync(options.resume, "utf8").split("\n") : [],
);
/** Test files by the number of the test; how many mutants a test has killed. */
const fileOf = new Map<number, string>();
const kills = new Map<number | undefined, number>();
const { imported, reachedBy } = await survey();
report(chosen, await campaign(chosen));

async function started(): Promise<MutationWorker> {
  const worker = await MutationWorker.start(testFiles);
  if (worker === undefined) throw new Error("Cannot begin: the tests cannot be imported although no mutant is alive");
  return worker;
}

interface Coverage {
  readonly imported: ReadonlySet<number>;
  /** Which tests reach which mutant. */
  readonly reachedBy: ReadonlyMap<number, readonly TimedTest[]>;
}

/**
 * All tests must pass; those that also pass a second time are of use, for they run again and again in one
 * process.
 */
async function survey(): Promise<Coverage> {
  const worker = await started();
  const tests = new Map<number, TimedTest[]>();
  for (let index = 0; index < worker.ready.testCount; index++) {
    const first = await worker.survey(index);
    if (first?.failure !== undefined || first === undefined)
      throw new Error(`Cannot begin: "${first?.name ?? index}" fails although no mutant is alive: ${first?.failure}`);
    if (first.reached.length === 0) continue;
    const again = await worker.survey(index);
    if (again === undefined || again.failure !== undefined) {
      console.log(`left out, for it passes only once in a process: ${first.name}`);
      continue;
    }
    const { durationMs } = again;
    fileOf.set(index, first.file);
    for (const id of again.reached) tests.set(id, [...(tests.get(id) ?? []), { index, durationMs }]);
  }
  worker.stop();
  console.log(`${worker.ready.testCount} tests reach ${tests.size} of ${all.length} mutants`);
  return { imported: new Set(worker.ready.imported), reachedBy: tests };
}

function choose(mutants: readonly Mutant[]): readonly Mutant[] {
  const names = options.files.split(",").filter((each) => each !== "");
  const named = (name: string): readonly Mutant[] => mutants.filter(({ file }) => file.includes(name));
  const wanted = names.length === 0 ? mutants : [...new Set(names.flatMap(named))];
  if (options.sample === undefined) return wanted;
  const [seed, count] = [
    wholeNumber("test by mutation", "seed", options.seed),
    wholeNumber("test by mutation", "sample", options.sample),
  ];
  // A multiplicative order: the same for a seed, and spread over all files.
  const rank = ({ id }: Mutant): number => ((id + seed) * 2_654_435_761) % 4_294_967_296;
  return wanted.toSorted((a, b) => rank(a) - rank(b)).slice(0, count);
}

async function campaign(mutants: readonly Mutant[]): Promise<Fates> {
  const fates = new Map<number, Verdict["fate"]>();
  let worker: MutationWorker | undefined;
  let tried = 0;
  for (const mutant of mutants) {
    if (remembered.has(mutant.key)) {
      fates.set(mutant.id, "killed");
      continue;
    }
    if (tried++ % mutantsPerProcessMax === 0) worker = stopped(worker);
    let { fate } = imported.has(mutant.id)
      ? await tryFromStart(mutant)
      : await tryWith((worker ??= await started()), mutant);
    if (fate === "unsure") {
      stopped(worker);
      fate = (await tryWith((worker = await started()), mutant)).fate;
    }
    if (fate === "endless" || fate === "unsure") worker = stopped(worker);
    fates.set(mutant.id, fate);
    if (fate === "killed" && options.resume !== undefined) appendFileSync(options.resume, `${mutant.key}\n`);
    if (fate !== "killed") console.log(`${tried} of ${mutants.length}, ${fate}: ${described(mutant)}`);
  }
  stopped(worker);
  return fates;
}

function stopped(worker: MutationWorker | undefined): undefined {
  worker?.stop();
}

async function tryWith(worker: MutationWorker, { id, file }: Mutant): Promise<Verdict> {
  const verdict = await worker.try(id, likeliestFirst(root + file, reachedBy.get(id) ?? []));
  if (verdict.fate === "killed") kills.set(verdict.by, (kills.get(verdict.by) ?? 0) + 1);
  return verdict;
}

/** The tests beside the mutant's file come first, then those of its folder, then what killed most. */
function likeliestFirst(file: string, tests: readonly TimedTest[]): readonly TimedTest[] {
  const distance = ({ index }: TimedTest): number => {
    const testFile = fileOf.get(index) ?? "";
    return testFile === file.replace(/\.ts$/, ".test.ts") ? 0 : dirname(testFile) === dirname(file) ? 1 : 2;
  };
  const rank = (a: TimedTest, b: TimedTest): number =>
    distance(a) - distance(b) || (kills.get(b.index) ?? 0) - (kills.get(a.index) ?? 0) || a.durationMs - b.durationMs;
  const near = tests.filter((each) => distance(each) === 0 || (distance(each) === 1 && each.durationMs <= nearMsMax));
  const others = tests.filter((each) => distance(each) === 2 && each.durationMs <= elsewhereMsMax);
  return [...near.toSorted(rank), ...others.toSorted(rank).slice(0, elsewhereTestsMax)];
}

/**
 * What a module works out when it is imported needs a process of its own, and every test that uses the
 * module.
 */
async function tryFromStart(mutant: Mutant): Promise<Verdict> {
  const worker = await MutationWorker.start(testFiles, mutant.id);
  if (worker === undefined) return { fate: "killed" };
  const tests = new Map<number, TimedTest>();
  for (const { id } of all.filter(({ file }) => file === mutant.file))
    for (const test of reachedBy.get(id) ?? []) tests.set(test.index, test);
  const verdict = await worker.try(mutant.id, likeliestFirst(root + mutant.file, [...tests.values()]));
  worker.stop();
  // The module keeps what it computed, so its tests still fail without the mutant.
  return verdict.fate === "unsure" ? { ...verdict, fate: "killed" } : verdict;
}
