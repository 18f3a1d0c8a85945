/**
 * `npm run conformance [-- FOCUS] [--fast] [--nodes 2] [--parallel 3]`: Kubernetes' own conformance suite
 * against `setpoint up`. FOCUS is a regular expression on the names of cases, `--fast` takes a fixed part. A
 * run of all cases writes docs/conformance.md; it fails when a case fails that passed in the last whole run.
 */
import { loadavg } from "node:os";
import { asked, wholeNumber } from "../../tools/flags/asked.ts";
import type { CaseResult } from "./case.ts";
import { startCluster } from "./cluster.ts";
import { fastPart } from "./fast-part.ts";
import { countsByGroup, readResults, writeResults } from "./results.ts";
import { listCases, runCases, type RunOptions } from "./run-cases.ts";
import { ensureSuite, suiteVersion, type Suite } from "./suite-build.ts";
import { loadSuiteImages } from "./suite-images.ts";

const { values, positionals } = asked("run the conformance suite", {
  allowPositionals: true,
  options: {
    nodes: { type: "string", default: "2" },
    parallel: { type: "string", default: "3" },
    kubeconfig: { type: "string" },
    fast: { type: "boolean", default: false },
  },
});
const nodes = wholeNumber("run the conformance suite", "nodes", values.nodes, 1);
const parallel = wholeNumber("run the conformance suite", "parallel", values.parallel, 1);
const [focus] = positionals;
const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stopping.abort(new Error(`Stopped by ${name}`)));

const load = (): string => `load ${loadavg()[0]?.toFixed(1)}`;
let done = 0;

function tell(total: number, { name, outcome, reason, seconds }: CaseResult): void {
  done++;
  console.log(`${done}/${total} ${outcome} ${seconds.toFixed(0)} s ${name}${reason === "" ? "" : `\n      ${reason}`}`);
}

async function run(programs: Suite): Promise<boolean> {
  const { signal } = stopping;
  const all = await listCases(programs.suite, "\\[Conformance\\]", signal);
  const names = values.fast ? fastPart(readResults()) : all.filter((name) => new RegExp(focus ?? "").test(name));
  console.log(`${names.length} of ${all.length} cases, ${nodes} nodes, ${parallel} at once (${load()})`);
  await loadSuiteImages(programs, signal);
  const own = values.kubeconfig === undefined ? await startCluster(nodes) : undefined;
  try {
    const kubeconfig = own?.kubeconfig ?? values.kubeconfig ?? "";
    const ended = (result: CaseResult): void => tell(names.length, result);
    const run = { suite: programs.suite, kubeconfig, parallel, signal, ended };
    const first = await runCases(names, run);
    const results = values.fast ? await withSecondTries(first, run) : first;
    return report(results, names.length === all.length && !signal.aborted);
  } finally {
    await own?.[Symbol.asyncDispose]();
  }
}

/** As the tests of CI, whose machines are busy: a case may be tried once more, which is printed. */
async function withSecondTries(first: readonly CaseResult[], run: RunOptions): Promise<readonly CaseResult[]> {
  const [passed, failed] = [first.filter(isPassed), first.filter((each) => !isPassed(each))];
  if (failed.length === 0) return first;
  console.log(`Once more: ${failed.map(({ name }) => name).join("; ")}`);
  return [
    ...passed,
    ...(await runCases(
      failed.map(({ name }) => name),
      { ...run, parallel: 1 },
    )),
  ];
}

function isPassed({ outcome }: CaseResult): boolean {
  return outcome === "passed";
}

/** Whether each case that passed in the last whole run passes again. */
function report(results: readonly CaseResult[], whole: boolean): boolean {
  const before = new Set(
    readResults()
      .filter(isPassed)
      .map(({ name }) => name),
  );
  const lost = results.filter((each) => !isPassed(each) && before.has(each.name));
  if (whole) writeResults(results, suiteVersion);
  for (const { name } of lost) console.log(`Passed in the last whole run, and not in this one: ${name}`);
  const passed = results.filter(isPassed).length;
  console.log(`${countsByGroup(results).join(", ")}\n${passed} passed, ${results.length - passed} failed (${load()})`);
  return lost.length === 0;
}

const programs = ensureSuite();
if (typeof programs === "string") console.log(`skipped: ${programs}`);
else process.exitCode = (await run(programs)) ? 0 : 1;
