/**
 * Shows that the explorer finds what it claims, and cries wolf for nothing else.
 * Run: npm run mutants [-- --only M1,nifikop-49 --seconds 60 --twins 1700]
 */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { parseArgs } from "node:util";
import { allMutants } from "./all-mutants.ts";
import { findMutant, type Finding, runTwin, type TwinReport } from "./campaign.ts";
import { mutantsTable } from "./mutants-table.ts";

interface Task {
  readonly what: "mutant" | "twin";
  readonly id: string;
  readonly seconds: number;
  readonly schedules: number;
}

type Answer =
  | { readonly what: "mutant"; readonly finding: Finding }
  | { readonly what: "twin"; readonly twin: TwinReport };

if (isMainThread) await main();
else parentPort?.on("message", (task: Task) => void work(task).then((answer) => parentPort?.postMessage(answer)));

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      /** Real time for each mutant. */
      seconds: { type: "string", default: "60" },
      /** Random schedules of each twin, after all single faults. */
      twins: { type: "string", default: "200" },
      workers: { type: "string", default: String(availableParallelism()) },
    },
  });
  const names = values.only?.split(",");
  const chosen = allMutants.filter(({ id }) => names === undefined || names.some((name) => id.startsWith(name)));
  const task = { seconds: Number(values.seconds), schedules: Number(values.twins) };
  const tasks: Task[] = [
    ...chosen.map(({ id }) => ({ what: "mutant" as const, id, ...task })),
    ...(task.schedules > 0 ? chosen.map(({ id }) => ({ what: "twin" as const, id, ...task })) : []),
  ];
  const answers = await inWorkers(tasks, Number(values.workers));
  const findings = answers.flatMap((each) => (each.what === "mutant" ? [each.finding] : []));
  const twins = answers.flatMap((each) => (each.what === "twin" ? [each.twin] : []));
  console.log(mutantsTable(findings, twins));
  const isProof = findings.every(({ rule }) => rule !== undefined) && twins.every(({ alarms }) => alarms.length === 0);
  process.exitCode = isProof ? 0 : 1;
}

async function inWorkers(tasks: readonly Task[], count: number): Promise<readonly Answer[]> {
  const waiting = [...tasks];
  const answers: Answer[] = [];
  const serve = async (): Promise<void> => {
    const worker = new Worker(new URL(import.meta.url), { workerData });
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const answer = await ask(worker, task);
      answers.push(answer);
      console.error(progress(answer));
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(count, tasks.length) }, serve));
  const order = new Map(allMutants.map(({ id }, index) => [id, index]));
  const rank = (each: Answer): number => order.get(each.what === "mutant" ? each.finding.id : each.twin.id) ?? 0;
  return answers.toSorted((a, b) => rank(a) - rank(b));
}

function ask(worker: Worker, task: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners();
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.postMessage(task);
  });
}

async function work({ what, id, seconds, schedules }: Task): Promise<Answer> {
  const mutant = allMutants.find((each) => each.id === id);
  if (mutant === undefined) throw new Error(`Cannot run "${id}": there is no such mutant`);
  return what === "mutant"
    ? { what, finding: await findMutant(mutant, { seconds }) }
    : { what, twin: await runTwin(mutant, { schedules, seconds: Infinity }) };
}

function progress(answer: Answer): string {
  if (answer.what === "twin")
    return `${answer.twin.id} twin: ${answer.twin.alarms.length} alarms in ${answer.twin.schedules} schedules${answer.twin.alarms.map((each) => `\n    ${each}`).join("")}`;
  const { id, rule, faults, seconds, schedules } = answer.finding;
  return `${id}: ${rule ?? "NOT FOUND"} after ${seconds.toFixed(1)} s, ${schedules} schedules${faults.map((each) => `\n    ⚡ ${each}`).join("")}`;
}
