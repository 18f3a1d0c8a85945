/** One thread of an exploration: it explores its share and says what it has visited. */
import { parentPort, workerData } from "node:worker_threads";
import { explore } from "../explore/explore.ts";
import { storyOf } from "../explore/story.ts";
import type { ExploredModule, WorkerTask, WorkerWord } from "./explore-module.ts";
import { defaultTraceFolder, failureText } from "./failure-text.ts";

// The parsing border: started by `exploreModule` only.
const { module, visited, world, traceFolder = defaultTraceFolder(), ...task } = workerData as WorkerTask;
const seedDefault = 1;

function say(word: WorkerWord): void {
  parentPort?.postMessage(word);
}

const { subject, worlds, options = {} } = (await import(module)) as ExploredModule;
const found = await explore({
  seed: seedDefault,
  ...options,
  ...task,
  subject,
  worlds: worlds.map(storyOf).filter(({ name }) => world === undefined || name.includes(world)),
  visited: new Set(visited),
  onRun: ({ story, cell }) => say({ kind: "ran", cell: `${story} ${cell}` }),
});
say({
  kind: "done",
  summary: {
    schedules: found.schedules,
    pairs: found.pairs,
    coverage: found.coverage,
    failures: found.failures.map((failure) => ({
      rule: `${failure.rule.oracle} ${failure.report.schedule.story.name} ${failure.report.schedule.faults.map(({ kind }) => kind).join()}`,
      text: failureText(failure, traceFolder),
    })),
    isComplete: found.isComplete,
  },
});
