/** Explores what a module exports, by several threads at once, and goes on where another exploration has ended. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Clock } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import type { KindCoverage, StoryCoverage } from "../explore/coverage.ts";
import type { StoryInit, Subject } from "../explore/story.ts";
import type { LawOptions } from "./reconciler-laws.ts";

/** What a module exports that is explored. */
export interface ExploredModule {
  readonly subject: Subject;
  readonly worlds: readonly StoryInit[];
  readonly options?: Omit<LawOptions, "worlds">;
}

export interface ModuleOptions {
  /** Threads; default 2. */
  readonly workers?: number;
  /** Real time after which no new run begins. */
  readonly seconds?: number;
  readonly pairs?: number;
  readonly swarm?: number;
  /** Only worlds with this in their names. */
  readonly world?: string;
  readonly seed?: number;
  readonly thorough?: boolean;
  /** A file that keeps which cells were visited, and how many random schedules were run. */
  readonly resume?: string;
  readonly failuresMax?: number;
  readonly traceFolder?: string;
  readonly clock?: Clock;
}

/** What an exploration by threads has come to. */
export interface Summary {
  readonly schedules: number;
  readonly pairs: { readonly run: number; readonly skipped: number };
  readonly coverage: readonly StoryCoverage[];
  /** Each with its rule, its smallest schedule, its trace and the path of its page. */
  readonly failures: readonly { readonly rule: string; readonly text: string }[];
  readonly isComplete: boolean;
  readonly tookMs: number;
}

/** What a thread is started with. */
export interface WorkerTask extends Omit<ModuleOptions, "clock" | "resume" | "workers"> {
  readonly module: string;
  readonly shard: { readonly index: number; readonly of: number };
  readonly visited: readonly string[];
  readonly swarmFrom: number;
}

/** What a thread says. */
export type WorkerWord =
  | { readonly kind: "ran"; readonly cell: string }
  | { readonly kind: "done"; readonly summary: Omit<Summary, "tookMs"> };

/** What the file of an exploration keeps. */
interface Progress {
  readonly visited: readonly string[];
  readonly swarmed: number;
}

const workersDefault = 2;
/** A run takes milliseconds; even the first ones, which rest for a day, are far shorter on a busy machine. */
const silenceMsMax = 300_000;
/** How often the file is written at most. */
const saveMs = 5_000;

export async function exploreModule(module: URL, options: ModuleOptions = {}): Promise<Summary> {
  const { workers = workersDefault, resume, clock = systemClock, ...task } = options;
  const startedMs = clock.monotonic();
  const progress = readProgress(resume);
  const visited = new Set(progress.visited);
  let savedMs = startedMs;
  const save = (swarmed: number): void => {
    if (resume !== undefined) writeFileSync(resume, JSON.stringify({ visited: [...visited], swarmed }));
    savedMs = clock.monotonic();
  };
  const ran = (cell: string): void => {
    visited.add(cell);
    if (clock.monotonic() - savedMs >= saveMs) save(progress.swarmed);
  };
  const summaries = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      work(
        {
          ...task,
          module: module.href,
          shard: { index, of: workers },
          visited: progress.visited,
          swarmFrom: progress.swarmed,
        },
        clock,
        ran,
      ),
    ),
  );
  save(progress.swarmed + (options.swarm ?? 0));
  return { ...merged(summaries), tookMs: clock.monotonic() - startedMs };
}

function work(task: WorkerTask, clock: Clock, ran: (cell: string) => void): Promise<Omit<Summary, "tookMs">> {
  // The entry beside this file: a source while developing, a compiled file in the package.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const execArgv = extension === "ts" ? ["--conditions=@setpoint/source"] : [];
  const worker = new Worker(new URL(`./explore-worker.${extension}`, import.meta.url), { workerData: task, execArgv });
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
      if (word.kind === "done") return resolve(word.summary);
      timer = clock.setTimer(silent, silenceMsMax);
      last = word.cell;
      ran(word.cell);
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

function readProgress(file: string | undefined): Progress {
  if (file === undefined || !existsSync(file)) return { visited: [], swarmed: 0 };
  // The parsing border: the file was written by `save`.
  return JSON.parse(readFileSync(file, "utf8")) as Progress;
}

function merged(summaries: readonly Omit<Summary, "tookMs">[]): Omit<Summary, "tookMs"> {
  const sum = (of: (summary: Omit<Summary, "tookMs">) => number): number =>
    summaries.reduce((total, each) => total + of(each), 0);
  const failures = summaries.flatMap((each) => each.failures);
  const stories = [...new Set(summaries.flatMap(({ coverage }) => coverage.map(({ story }) => story)))];
  return {
    schedules: sum(({ schedules }) => schedules),
    pairs: { run: sum(({ pairs }) => pairs.run), skipped: sum(({ pairs }) => pairs.skipped) },
    coverage: stories.map((story) => ({
      story,
      kinds: mergedKinds(
        summaries.flatMap(({ coverage }) => coverage.filter((each) => each.story === story).map(({ kinds }) => kinds)),
      ),
    })),
    failures: failures.filter(({ rule }, index) => failures.findIndex((each) => each.rule === rule) === index),
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
