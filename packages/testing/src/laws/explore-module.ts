/** Explores what a module exports on several threads, and resumes an earlier exploration. */
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { Clock } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import type { KindCoverage, StoryCoverage } from "../explore/coverage.ts";
import type { PairCounts } from "../explore/exploration.ts";
import type { StoryInit, Subject } from "../explore/story.ts";
import type { OpenFailure, ProgressCounts, ProgressData } from "./progress.ts";
import { ExplorationLog, type Moment } from "./exploration-log.ts";
import type { LawOptions } from "./reconciler-laws.ts";

/** What a module exports that is explored. */
export interface ExploredModule {
  readonly subject: Subject;
  readonly worlds: readonly StoryInit[];
  readonly options?: Omit<LawOptions, "worlds">;
}

/** How long and on how many threads to explore, and where to keep the progress. */
export interface ModuleOptions {
  /** Threads; default 2. */
  readonly workers?: number;
  /** Real time after which no new run begins. */
  readonly seconds?: number;
  /** Whether `seconds` are CPU time of each thread: a busy machine takes longer, and visits as much. */
  readonly countsCpuTime?: boolean;
  /** Whether each fault strikes alone first; default true. */
  readonly singles?: boolean;
  /**
   * With `resume`, the pairs of earlier explorations with the same file count too; the same holds for
   * `swarm`.
   */
  readonly pairs?: number;
  readonly swarm?: number;
  /** Only worlds with this in their names. */
  readonly world?: string;
  readonly seed?: number;
  readonly thorough?: boolean;
  /** A file that keeps which runs are done and which failed. */
  readonly resume?: string;
  readonly failuresMax?: number;
  readonly traceFolder?: string;
  /** Called every ten seconds during the exploration. */
  readonly onProgress?: (moment: Moment) => void;
  /** Called with each new failure's text. */
  readonly onFailure?: (text: string) => void;
  readonly clock?: Clock;
}

/** The result of an exploration on several threads. */
export interface Summary {
  readonly schedules: number;
  readonly pairs: PairCounts;
  /** Random schedules and pairs that broke no rule, in all explorations with this file. */
  readonly total: ProgressCounts;
  readonly coverage: readonly StoryCoverage[];
  /**
   * Each failure with its rule, its smallest schedule, its trace and the path of its page; also failures that
   * are open from before.
   */
  readonly failures: readonly { readonly rule: string; readonly text: string }[];
  readonly isComplete: boolean;
  readonly tookMs: number;
}

/** The result of one thread. */
type Share = Omit<Summary, "tookMs" | "failures" | "total">;

/** The input of a thread. */
export interface WorkerTask extends Omit<ModuleOptions, "clock" | "resume" | "workers" | "onProgress" | "onFailure"> {
  readonly module: string;
  readonly shard: { readonly index: number; readonly of: number };
  readonly done: ProgressData;
}

/** A message of a thread. */
export type WorkerWord =
  | { readonly kind: "begins" }
  | { readonly kind: "ran"; readonly what: string }
  | { readonly kind: "done"; readonly name: string }
  | { readonly kind: "failed"; readonly failure: OpenFailure }
  | { readonly kind: "over"; readonly share: Share };

const workersDefault = 2;
/** A run takes milliseconds; even the first ones, which rest for a day, are far shorter on a busy machine. */
const silenceMsMax = 300_000;
/**
 * Most objects are short-lived: with more room V8 collects them less often, and does not move what a run
 * needs before it ends. The room of a new thread begins at a megabyte and grows slowly, unless an option sets
 * it before the thread starts. V8 takes a third of the young generation for one half of that room.
 */
const youngMegabytes = 192;

/** Explores what a module exports on several threads, and continues an earlier exploration if asked. */
export async function exploreModule(module: URL, options: ModuleOptions = {}): Promise<Summary> {
  const { workers = workersDefault, resume, clock = systemClock, onProgress, onFailure, ...task } = options;
  const startedMs = clock.monotonic();
  const log = new ExplorationLog({ workers, resume, clock, onProgress, onFailure });
  const { data: done, counts } = log.progress;
  const pairs = task.pairs === undefined ? {} : { pairs: Math.max(0, task.pairs - counts.pairs) };
  const shares = await Promise.all(
    Array.from({ length: workers }, (_, index) => {
      const shard = { index, of: workers };
      return work({ ...task, ...pairs, module: module.href, shard, done }, clock, log);
    }),
  ).finally(() => log.save());
  const { failures, counts: total } = log.progress;
  return { ...merged(shares), failures: distinct(failures), total, tookMs: clock.monotonic() - startedMs };
}

function distinct(failures: readonly OpenFailure[]): readonly OpenFailure[] {
  return failures.filter(({ rule }, index) => failures.findIndex((each) => each.rule === rule) === index);
}

function work(task: WorkerTask, clock: Clock, log: ExplorationLog): Promise<Share> {
  // The entry beside this file: a source while developing, a compiled file in the package.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  setFlagsFromString(`--min-semi-space-size=${youngMegabytes / 3}`);
  setFlagsFromString("--no-allocation-site-pretenuring");
  const execArgv = extension === "ts" ? ["--conditions=@setpoint/source"] : [];
  const worker = new Worker(new URL(`./explore-worker.${extension}`, import.meta.url), {
    workerData: task,
    execArgv,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  });
  return new Promise((resolve, reject) => {
    let last = "its beginning";
    const silent = (): void => {
      void worker.terminate();
      const what = `a thread has said nothing for ${silenceMsMax / 1_000} s after ${last}`;
      reject(new Error(`Cannot go on exploring: ${what}; something in the operator or a model never yields`));
    };
    let timer = clock.setTimer(silent, silenceMsMax);
    worker.on("message", (word: WorkerWord) => {
      timer.cancel();
      if (word.kind === "over") return resolve(word.share);
      timer = clock.setTimer(silent, silenceMsMax);
      if (word.kind === "begins") return;
      if (word.kind === "done") return log.done(word.name);
      if (word.kind === "failed") return log.failed(word.failure);
      last = word.what;
      log.ran(word.what);
    });
    worker.on("error", (error) => {
      timer.cancel();
      reject(error);
    });
    worker.on("exit", (code) => {
      timer.cancel();
      reject(new Error(`Cannot go on exploring: a thread has ended with code ${code}`));
    });
  });
}

function merged(summaries: readonly Share[]): Share {
  const sum = (of: (share: Share) => number): number => summaries.reduce((total, each) => total + of(each), 0);
  const stories = [...new Set(summaries.flatMap(({ coverage }) => coverage.map(({ story }) => story)))];
  return {
    schedules: sum(({ schedules }) => schedules),
    pairs: {
      run: sum(({ pairs }) => pairs.run),
      skipped: sum(({ pairs }) => pairs.skipped),
      firsts: Math.max(0, ...summaries.map(({ pairs }) => pairs.firsts)),
      firstsDone: Math.min(...summaries.map(({ pairs }) => pairs.firstsDone)),
    },
    coverage: stories.map((story) => ({
      story,
      kinds: mergedKinds(
        summaries.flatMap(({ coverage }) => coverage.filter((each) => each.story === story).map(({ kinds }) => kinds)),
      ),
    })),
    isComplete: summaries.every(({ isComplete }) => isComplete),
  };
}

/** Every thread knows all cells and has visited some of them. */
function mergedKinds(all: readonly (readonly KindCoverage[])[]): readonly KindCoverage[] {
  const [first = []] = all;
  return first.map(({ kind, cells }) => {
    const same = all.flatMap((kinds) => kinds.filter((each) => each.kind === kind));
    const sum = (of: (each: KindCoverage) => number): number => same.reduce((total, each) => total + of(each), 0);
    return {
      kind,
      cells,
      visited: sum(({ visited }) => visited),
      struck: sum(({ struck }) => struck),
      failed: sum(({ failed }) => failed),
    };
  });
}
