/** What an exploration has done, in a file: the next one goes on there. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** What the file keeps: random schedules as ranges of numbers, pairs as short hashes, both by story. */
export interface ProgressData {
  readonly visited: readonly string[];
  readonly swarm: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  readonly pairs: Readonly<Record<string, readonly string[]>>;
  readonly failures: readonly OpenFailure[];
}

/** A failure that is open until what is called so has been run again and broke no rule. */
export interface OpenFailure {
  readonly name: string;
  readonly rule: string;
  readonly text: string;
}

/** How much is done, in all explorations with this file. */
export interface ProgressCounts {
  readonly random: number;
  readonly pairs: number;
}

const swarmName = /^(.*) swarm (\d+)$/;
const pairName = /^(.*) pair ([\w-]+)$/;

export class Progress {
  readonly #visited: Set<string>;
  readonly #swarm = new Map<string, Set<number>>();
  readonly #pairs = new Map<string, Set<string>>();
  #failures: readonly OpenFailure[];

  constructor(data: Partial<ProgressData> = {}) {
    this.#visited = new Set(data.visited);
    for (const [story, ranges] of Object.entries(data.swarm ?? {}))
      for (const [from, to] of ranges)
        for (let number = from; number <= to; number++) setOf(this.#swarm, story).add(number);
    for (const [story, hashes] of Object.entries(data.pairs ?? {})) this.#pairs.set(story, new Set(hashes));
    this.#failures = data.failures ?? [];
  }

  has(name: string): boolean {
    const [, random = "", number] = swarmName.exec(name) ?? [];
    if (number !== undefined) return this.#swarm.get(random)?.has(Number(number)) ?? false;
    const [, story = "", hash] = pairName.exec(name) ?? [];
    return hash === undefined ? this.#visited.has(name) : (this.#pairs.get(story)?.has(hash) ?? false);
  }

  /** It ran and broke no rule: every failure under this name is fixed. */
  add(name: string): void {
    const [, random = "", number] = swarmName.exec(name) ?? [];
    const [, story = "", hash] = pairName.exec(name) ?? [];
    if (number !== undefined) setOf(this.#swarm, random).add(Number(number));
    else if (hash !== undefined) setOf(this.#pairs, story).add(hash);
    else this.#visited.add(name);
    if (this.#failures.some((each) => each.name === name))
      this.#failures = this.#failures.filter((each) => each.name !== name);
  }

  fail(failure: OpenFailure): void {
    this.#failures = [...this.#failures.filter(({ name }) => name !== failure.name), failure];
  }

  get failures(): readonly OpenFailure[] {
    return this.#failures;
  }

  get counts(): ProgressCounts {
    const sum = (sets: Iterable<ReadonlySet<unknown>>): number =>
      [...sets].reduce((total, { size }) => total + size, 0);
    return { random: sum(this.#swarm.values()), pairs: sum(this.#pairs.values()) };
  }

  get data(): ProgressData {
    return {
      visited: [...this.#visited],
      swarm: Object.fromEntries([...this.#swarm].map(([story, numbers]) => [story, rangesOf(numbers)])),
      pairs: Object.fromEntries([...this.#pairs].map(([story, hashes]) => [story, [...hashes]])),
      failures: this.#failures,
    };
  }
}

export function readProgress(file: string | undefined): Progress {
  if (file === undefined || !existsSync(file)) return new Progress();
  // The parsing border: the file was written by `writeProgress`.
  return new Progress(JSON.parse(readFileSync(file, "utf8")) as Partial<ProgressData>);
}

/** An exploration that is interrupted while it writes leaves the file as it was. */
export function writeProgress(file: string, progress: Progress): void {
  writeFileSync(`${file}.new`, JSON.stringify(progress.data));
  renameSync(`${file}.new`, file);
}

function setOf<T>(sets: Map<string, Set<T>>, story: string): Set<T> {
  const known = sets.get(story) ?? new Set();
  sets.set(story, known);
  return known;
}

function rangesOf(numbers: ReadonlySet<number>): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}
