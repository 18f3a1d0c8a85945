/**
 * What the campaign has measured so far: a file with one line for each failover, to which an interrupted
 * campaign adds.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One disaster and what followed. */
export interface Failover {
  /** Which kind of cluster was struck; `plain` has no operator. */
  readonly target: string;
  readonly disaster: string;
  /**
   * The longest time between two acknowledged writes, from the disaster until the cluster was whole again.
   */
  readonly outageMs: number;
  /** How long it took until the cluster was whole again. */
  readonly wholeMs: number;
  readonly leaderChanged: boolean;
  /** When it was whole again, and the load average of the machine then. */
  readonly atMs?: number;
  readonly load?: number;
  /** Milliseconds from the disaster until each of these. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** What was written in a period and checked at its end. */
export interface Check {
  readonly acknowledged: number;
  /** Acknowledged writes that are gone, and that no status declared. */
  readonly lost: number;
  /** Those that are gone and that the status declared. */
  readonly declared?: number;
  readonly operations: number;
  readonly violations: readonly string[];
}

/** A cluster that did not get whole, or a part of it that did not do what it must. */
export interface Failure {
  readonly cluster: string;
  readonly message: string;
}

type Line = { readonly failover: Failover } | { readonly check: Check } | { readonly failure: Failure };

/** What an engine calls what its clients do, and what they must not see. */
export interface ResultWords {
  readonly operations: string;
  readonly violations: string;
}

/** The target without an operator. */
export const plain = "plain";

export class Results {
  readonly failovers: Failover[] = [];
  readonly checks: Check[] = [];
  readonly failures: Failure[] = [];
  readonly folder: string;
  readonly #file: string;
  readonly #words: ResultWords;

  /** Reads what an earlier run left in `folder`. */
  constructor(folder: string, words: ResultWords) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.#words = words;
    this.#file = join(folder, "results.jsonl");
    if (!existsSync(this.#file)) return;
    for (const text of readFileSync(this.#file, "utf8").split("\n"))
      if (text !== "") this.#take(JSON.parse(text) as Line);
  }

  add(line: Line): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
    this.#take(line);
  }

  #take(line: Line): void {
    if ("failover" in line) this.failovers.push(line.failover);
    else if ("check" in line) this.checks.push(line.check);
    else this.failures.push(line.failure);
  }

  /** Of clusters with an operator. */
  get count(): number {
    return this.failovers.length - this.countPlain;
  }

  get countPlain(): number {
    return this.failovers.filter(({ target }) => target === plain).length;
  }

  /** The table that the documentation shows, and whether every check held. */
  summary(): { readonly text: string; readonly holds: boolean } {
    const rows = Map.groupBy(this.failovers, ({ target, disaster }) => `${target}: ${disaster}`);
    const lines = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, failovers]) => rowOf(name, failovers));
    const text = [
      "| target and disaster | failovers | leader changed | outage p50 / p90 / p99 / longest (s) | whole again p50 / p99 (s) |",
      "| --- | --: | --: | --: | --: |",
      ...lines,
      "",
      this.#sentence(),
      ...this.#conditions(),
      ...this.failures.map(({ cluster, message }) => `FAILED: ${cluster}: ${message}`),
    ].join("\n");
    const holds = this.failures.length === 0 && this.#sum("lost") === 0 && this.#violations() === 0;
    return { text, holds };
  }

  #sentence(): string {
    const declared = this.#sum("declared");
    const lost = `${this.#sum("lost")} lost${declared === 0 ? "" : `, ${declared} more lost as the status declared`}`;
    const { operations, violations } = this.#words;
    return `${this.#sum("acknowledged")} writes acknowledged, ${lost}; ${this.#sum("operations")} ${operations}, ${this.#violations()} ${violations}`;
  }

  #sum(field: "acknowledged" | "lost" | "declared" | "operations"): number {
    return this.checks.reduce((total, check) => total + (check[field] ?? 0), 0);
  }

  #violations(): number {
    return this.checks.reduce((total, { violations }) => total + violations.length, 0);
  }

  /** From the first to the last failover, and the load of the machine then. */
  #conditions(): readonly string[] {
    const timed = this.failovers.filter(({ atMs }) => atMs !== undefined);
    if (timed.length === 0) return [];
    const times = timed.map(({ atMs = 0 }) => atMs);
    const loads = timed.map(({ load = 0 }) => load).sort((a, b) => a - b);
    const minutes = (Math.max(...times) - Math.min(...times)) / 60_000;
    const [low, middle, high] = [0, 0.5, 1].map((share) => at(loads, share).toFixed(1));
    return [`${minutes.toFixed(0)} minutes; load average ${low} to ${high}, half of the time above ${middle}`];
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function rowOf(name: string, failovers: readonly Failover[]): string {
  const outages = failovers.map(({ outageMs }) => outageMs).sort((a, b) => a - b);
  const whole = failovers.map(({ wholeMs }) => wholeMs).sort((a, b) => a - b);
  const changed = failovers.filter(({ leaderChanged }) => leaderChanged).length;
  const seconds = (sorted: readonly number[], ...shares: readonly number[]): string =>
    shares.map((share) => (at(sorted, share) / 1_000).toFixed(1)).join(" / ");
  return `| ${name} | ${failovers.length} | ${changed} | ${seconds(outages, 0.5, 0.9, 0.99, 1)} | ${seconds(whole, 0.5, 0.99)} |`;
}
