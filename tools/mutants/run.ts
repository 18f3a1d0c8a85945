/**
 * Shows that the explorer finds what it claims, and cries wolf for nothing else. Run: npm run mutants [--
 * --only M1,nifikop-49 --seconds 60 --no-mutants --twins 100000 --progress twins.jsonl --write
 * docs/mutants.md]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { asked, refuse, wholeNumber } from "../flags/asked.ts";
import { allMutants } from "./all-mutants.ts";
import { findMutant, type Finding, runTwin } from "./campaign.ts";
import { mutantsTable } from "./mutants-table.ts";
import { type FinishedTwin, firstSeedOf, randomSchedules, restMsOf, TwinRounds } from "./twin-rounds.ts";

type Task =
  | { readonly what: "mutant"; readonly id: string; readonly seconds: number }
  | { readonly what: "twin"; readonly id: string; readonly round: number };

type Answer =
  | { readonly what: "mutant"; readonly finding: Finding }
  | { readonly what: "twin"; readonly twin: FinishedTwin };

const marker = "<!-- below: what `npm run mutants` has printed -->";

if (isMainThread) await main();
else parentPort?.on("message", (task: Task) => void work(task).then((answer) => parentPort?.postMessage(answer)));

async function main(): Promise<void> {
  const { values } = asked("run the mutants", {
    allowNegative: true,
    options: {
      only: { type: "string" },
      mutants: { type: "boolean", default: true },
      /** Real time for each mutant. */
      seconds: { type: "string", default: "60" },
      /** Schedules of all twins together. */
      twins: { type: "string", default: "15000" },
      /** Where finished twins are written down, and read when it goes on. */
      progress: { type: "string" },
      /** A page whose end, from the marker on, is replaced by the table. */
      write: { type: "string" },
      workers: { type: "string", default: String(availableParallelism()) },
    },
  });
  const names = values.only?.split(",");
  const ids = allMutants.map(({ id }) => id).filter((id) => names?.some((name) => id.startsWith(name)) ?? true);
  if (ids.length === 0) refuse(`Cannot run the mutants: --only is "${values.only}", and none begins so`);
  const number = (flag: "seconds" | "twins" | "workers", min = 0): number =>
    wholeNumber("run the mutants", flag, values[flag], min);
  const seconds = number("seconds", 1);
  const rounds = new TwinRounds({
    ids,
    schedules: number("twins"),
    ...(values.progress === undefined ? {} : { progress: values.progress }),
  });
  const findings: Finding[] = [];
  const mutants = values.mutants ? [...ids] : [];
  const next = (): Task | undefined => {
    const id = mutants.shift();
    if (id !== undefined) return { what: "mutant", id, seconds };
    const run = rounds.next();
    return run && { what: "twin", ...run };
  };
  await inWorkers(next, number("workers", 1), (answer) => {
    if (answer.what === "twin") rounds.finish(answer.twin);
    else findings.push(answer.finding);
    console.error(progress(answer));
  });
  const order = new Map(ids.map((id, index) => [id, index]));
  findings.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  const table = mutantsTable(findings, rounds.finished);
  console.log(table);
  if (values.write !== undefined) writeBelowMarker(values.write, table);
  const isProof =
    findings.every(({ rule }) => rule !== undefined) && rounds.finished.every(({ alarms }) => alarms.length === 0);
  process.exitCode = isProof ? 0 : 1;
}

async function inWorkers(
  next: () => Task | undefined,
  count: number,
  answered: (answer: Answer) => void,
): Promise<void> {
  const serve = async (): Promise<void> => {
    const worker = new Worker(new URL(import.meta.url), { workerData });
    for (let task = next(); task !== undefined; task = next()) answered(await ask(worker, task));
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: count }, serve));
}

function writeBelowMarker(file: string, text: string): void {
  const page = readFileSync(file, "utf8");
  const at = page.indexOf(marker);
  if (at < 0) throw new Error(`Cannot write into ${file}: it has no line "${marker}"`);
  writeFileSync(file, `${page.slice(0, at)}${marker}\n\n${text}\n`);
}

function ask(worker: Worker, task: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners();
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.postMessage(task);
  });
}

async function work(task: Task): Promise<Answer> {
  const { what, id } = task;
  const mutant = allMutants.find((each) => each.id === id);
  if (mutant === undefined) throw new Error(`Cannot run "${id}": there is no such mutant`);
  if (what === "mutant") return { what, finding: await findMutant(mutant, task) };
  const { round } = task;
  const options = {
    schedules: randomSchedules,
    seconds: Infinity,
    firstSeed: firstSeedOf(round),
    restMs: restMsOf(round),
  };
  return { what, twin: { ...(await runTwin(mutant, options)), round } };
}

function progress(answer: Answer): string {
  if (answer.what === "twin") {
    const { id, round, alarms, schedules } = answer.twin;
    return [`${id} twin, round ${round}: ${alarms.length} alarms in ${schedules} schedules`, ...alarms].join("\n    ");
  }
  const { id, rule, faults, seconds, schedules } = answer.finding;
  return [`${id}: ${rule ?? "NOT FOUND"} after ${seconds.toFixed(1)} s, ${schedules} schedules`, ...faults].join(
    "\n    ⚡ ",
  );
}
