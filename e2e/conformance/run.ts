/**
 * `npm run conformance [-- FOCUS] [--nodes 2] [--parallel 3]`: Kubernetes' own conformance suite against
 * `setpoint up`. FOCUS is a regular expression on the names of cases. A run of all cases writes
 * docs/conformance.md; it fails when a case fails that passed in the last whole run.
 */
import { loadavg } from "node:os";
import { asked, wholeNumber } from "../../tools/flags/asked.ts";
import type { CaseResult } from "./case.ts";
import { startCluster } from "./cluster.ts";
import { countsByGroup, readResults, writeResults } from "./results.ts";
import { listCases, runCases } from "./run-cases.ts";
import { ensureSuite, suiteVersion, type Suite } from "./suite-build.ts";
import { loadSuiteImages } from "./suite-images.ts";

const { values, positionals } = asked("run the conformance suite", {
  allowPositionals: true,
  options: {
    nodes: { type: "string", default: "2" },
    parallel: { type: "string", default: "3" },
    kubeconfig: { type: "string" },
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
  const names = focus === undefined ? all : all.filter((name) => new RegExp(focus).test(name));
  console.log(`${names.length} of ${all.length} cases, ${nodes} nodes, ${parallel} at once (${load()})`);
  await loadSuiteImages(programs, signal);
  const own = values.kubeconfig === undefined ? await startCluster(nodes) : undefined;
  try {
    const kubeconfig = own?.kubeconfig ?? values.kubeconfig ?? "";
    const ended = (result: CaseResult): void => tell(names.length, result);
    const results = await runCases(names, { suite: programs.suite, kubeconfig, parallel, signal, ended });
    return report(results, focus === undefined && !signal.aborted);
  } finally {
    await own?.[Symbol.asyncDispose]();
  }
}

/** Whether each case that passed in the last whole run passes again. */
function report(results: readonly CaseResult[], whole: boolean): boolean {
  const before = new Set(readResults().flatMap(({ name, outcome }) => (outcome === "passed" ? [name] : [])));
  const lost = results.filter(({ name, outcome }) => outcome !== "passed" && before.has(name));
  if (whole) writeResults(results, suiteVersion);
  for (const { name } of lost) console.log(`Passed in the last whole run, and not in this one: ${name}`);
  const passed = results.filter(({ outcome }) => outcome === "passed").length;
  console.log(`${countsByGroup(results).join(", ")}\n${passed} passed, ${results.length - passed} failed (${load()})`);
  return lost.length === 0;
}

const programs = ensureSuite();
if (typeof programs === "string") console.log(`skipped: ${programs}`);
else process.exitCode = (await run(programs)) ? 0 : 1;
