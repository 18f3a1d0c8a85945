/**
 * Very many schedules of the twins, in rounds: a round runs every twin once, from seeds of its own, under all
 * single faults and under random ones. What is finished is written down, so that a further call goes on.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TwinReport } from "./campaign.ts";

/** Random schedules of a twin in one round, besides all single faults. */
export const randomSchedules = 200;
/** Seeds of a round: more than it uses. */
const seedsOfRound = 1_000;

export function firstSeedOf(round: number): number {
  return 1 + round * seedsOfRound;
}

/**
 * After the first round as long as the explorer rests by itself; most of what a long rest costs is the
 * renewal of leases.
 */
export function restMsOf(round: number): number {
  return round === 0 ? 600_000 : 180_000;
}

export interface TwinRun {
  readonly id: string;
  readonly round: number;
}

/** A twin's part of one round, finished. */
export interface FinishedTwin extends TwinReport {
  readonly round: number;
}

export interface TwinRoundsOptions {
  readonly ids: readonly string[];
  /** So many schedules in all; the last round ends in the middle. */
  readonly schedules: number;
  /** A file of one line of JSON for each twin of each round; absent: nothing is kept. */
  readonly progress?: string;
}

export class TwinRounds {
  readonly #options: TwinRoundsOptions;
  readonly #finished: FinishedTwin[];
  readonly #begun: Set<string>;
  #round = 0;
  #index = 0;

  constructor(options: TwinRoundsOptions) {
    this.#options = options;
    this.#finished = [...readProgress(options.progress)];
    this.#begun = new Set(this.#finished.map(keyOf));
  }

  get finished(): readonly FinishedTwin[] {
    return this.#finished;
  }

  /** What is to be run next; undefined when there are enough. */
  next(): TwinRun | undefined {
    const { ids, schedules } = this.#options;
    while (ids.length > 0 && this.#schedules < schedules) {
      const id = ids[this.#index++];
      if (id === undefined) {
        this.#index = 0;
        this.#round++;
        continue;
      }
      const run = { id, round: this.#round };
      if (this.#begun.has(keyOf(run))) continue;
      this.#begun.add(keyOf(run));
      return run;
    }
    return undefined;
  }

  finish(run: FinishedTwin): void {
    this.#finished.push(run);
    const { progress } = this.#options;
    if (progress === undefined) return;
    mkdirSync(dirname(progress), { recursive: true });
    appendFileSync(progress, `${JSON.stringify(run)}\n`);
  }

  get #schedules(): number {
    return this.#finished.reduce((sum, each) => sum + each.schedules, 0);
  }
}

function keyOf({ id, round }: TwinRun): string {
  return `${round} ${id}`;
}

/** The parsing border: this program has written the file. */
function readProgress(file: string | undefined): readonly FinishedTwin[] {
  if (file === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as FinishedTwin);
}
