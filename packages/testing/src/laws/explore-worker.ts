/** One thread of an exploration: it explores its share and says what it has done. */
import { parentPort, workerData } from "node:worker_threads";
import { explore } from "../explore/explore.ts";
import { storyOf } from "../explore/story.ts";
import type { ExploredModule, WorkerTask, WorkerWord } from "./explore-module.ts";
import { budgetClock } from "./budget-clock.ts";
import { defaultTraceFolder, failureText } from "./failure-text.ts";
import { Progress } from "./progress.ts";

// The parsing border: started by `exploreModule` only.
const { module, done, world, traceFolder = defaultTraceFolder(), countsCpuTime, ...task } = workerData as WorkerTask;
const seedDefault = 1;

function say(word: WorkerWord): void {
  parentPort?.postMessage(word);
}

const { subject, worlds, options = {} } = (await import(module)) as ExploredModule;
const found = await explore({
  seed: seedDefault,
  ...options,
  ...task,
  ...(countsCpuTime === true ? { clock: budgetClock() } : {}),
  subject,
  worlds: worlds.map(storyOf).filter(({ name }) => world === undefined || name.includes(world)),
  visited: new Progress(done),
  onBegin: () => say({ kind: "begins" }),
  onRun: ({ story, cell }) => say({ kind: "ran", what: `${story} ${cell}` }),
  onDone: (name) => say({ kind: "done", name }),
  onFailure(failure, name) {
    const { rule, report, sentence = "" } = failure;
    const kinds = report.schedule.faults.map(({ kind }) => kind).join();
    const same = `${rule.oracle} ${report.schedule.story.name} ${kinds} ${sentence}`;
    say({ kind: "failed", failure: { name, rule: same, text: failureText(failure, traceFolder) } });
  },
});
const { schedules, pairs, coverage, isComplete } = found;
say({ kind: "over", share: { schedules, pairs, coverage, isComplete } });
