/**
 * Mutation testing of the framework's core: each small wrong version of it must be noticed by a test.
 * Run: npm run mutation [-- --files work-queue,store --sample 50 --seed 1]
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { explainedSurvivors } from "./explained-survivors.ts";
import { instrumentedFiles } from "./instrumented-files.ts";
import type { Mutant } from "./mutants.ts";
import { MutationWorker } from "./mutation-worker.ts";

const root = new URL("../..", import.meta.url).pathname;
const testFilePatterns = ["packages/runtime/src/**/*.test.ts", "packages/client/src/**/*.test.ts"];

const { values: options } = parseArgs({
  options: {
    /** Parts of file names, separated by commas. */
    files: { type: "string", default: "" },
    /** How many mutants, chosen at random; all when absent. */
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: String(availableParallelism()) },
  },
});

const folder = mkdtempSync(join(tmpdir(), "setpoint-mutation-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Long stories reach every line and pin down few; what they alone would notice is better said by a test of its own. */
const isQuick = (file: string): boolean => !file.includes(".scenario.");
const testFiles = globSync(testFilePatterns, { cwd: root }).filter(isQuick).toSorted();
const hitBy = coverage(testFiles);
const chosen = choose([...instrumentedFiles().values()].flatMap(({ mutants }) => mutants));
const survivors = await campaign(chosen);
report(chosen, survivors);

interface TestRun {
  readonly file: string;
  readonly durationMs: number;
}

/** Which test files reach which mutant, the quickest first; they must pass while no mutant is alive. */
function coverage(files: readonly string[]): ReadonlyMap<number, readonly TestRun[]> {
  const runs = new Map<number, TestRun[]>();
  for (const [index, file] of files.entries()) {
    const hits = join(folder, `hits-${index}`);
    const alive = join(folder, "none");
    writeFileSync(alive, "0");
    const startedMs = performance.now();
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--config",
        join(root, "tools/mutation/vitest.config.ts"),
        file,
      ],
      { cwd: root, encoding: "utf8", env: { ...process.env, SETPOINT_MUTANT_FILE: alive, SETPOINT_MUTANT_HITS: hits } },
    );
    if (status !== 0) throw new Error(`Cannot begin: ${file} fails although no mutant is alive\n${stdout}`);
    const run = { file: root + file, durationMs: performance.now() - startedMs };
    const ids = existsSync(hits) ? readFileSync(hits, "utf8").trim().split("\n").map(Number) : [];
    for (const id of new Set(ids)) runs.set(id, [...(runs.get(id) ?? []), run]);
    console.log(`${file}: reaches ${ids.length} mutants`);
  }
  for (const each of runs.values()) each.sort((a, b) => a.durationMs - b.durationMs);
  return runs;
}

function choose(mutants: readonly Mutant[]): readonly Mutant[] {
  const names = options.files.split(",").filter((each) => each !== "");
  const wanted = mutants.filter(({ file }) => names.length === 0 || names.some((name) => file.includes(name)));
  if (options.sample === undefined) return wanted;
  // A multiplicative order: the same for a seed, and spread over all files.
  const rank = ({ id }: Mutant): number => ((id + Number(options.seed)) * 2_654_435_761) % 4_294_967_296;
  return wanted.toSorted((a, b) => rank(a) - rank(b)).slice(0, Number(options.sample));
}

/** The mutants that no test noticed. */
async function campaign(mutants: readonly Mutant[]): Promise<readonly Mutant[]> {
  const survivors = mutants.filter(({ id }) => !hitBy.has(id));
  const waiting = mutants.filter(({ id }) => hitBy.has(id));
  let done = survivors.length;
  const work = async (index: number): Promise<void> => {
    let worker: MutationWorker | undefined;
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      worker ??= await MutationWorker.start(join(folder, `alive-${index}`));
      const verdict = await worker.try(mutant.id, hitBy.get(mutant.id)?.map(({ file }) => file) ?? []);
      if (verdict === "survived") survivors.push(mutant);
      if (verdict === "endless") worker = undefined;
      if (++done % 25 === 0) console.log(`${done} of ${mutants.length}, ${survivors.length} survived`);
    }
    worker?.stop();
  };
  await Promise.all(Array.from({ length: Number(options.workers) }, (_, index) => work(index)));
  return survivors.toSorted((a, b) => a.id - b.id);
}

function report(mutants: readonly Mutant[], alive: readonly Mutant[]): void {
  const explained = alive.filter((each) => explanationOf(each) !== undefined);
  for (const each of alive)
    console.log(`survived: ${each.file}:${each.line}  ${each.change}${suffix(explanationOf(each))}`);
  for (const file of new Set(mutants.map((each) => each.file))) {
    const total = mutants.filter((each) => each.file === file).length;
    const left = alive.filter((each) => each.file === file).length;
    console.log(`${String(Math.round((100 * (total - left)) / total)).padStart(3)} % of ${total} killed in ${file}`);
  }
  const share = (100 * (mutants.length - alive.length)) / mutants.length;
  console.log(
    `${share.toFixed(1)} % of ${mutants.length} mutants killed, ${alive.length} survived, ${explained.length} of them explained`,
  );
}

function explanationOf({ file, change }: Mutant): string | undefined {
  return explainedSurvivors.find((each) => file.endsWith(each.file) && each.change === change)?.why;
}

function suffix(explanation: string | undefined): string {
  return explanation === undefined ? "" : `\n          (${explanation})`;
}
