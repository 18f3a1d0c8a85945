/**
 * What the campaign has measured so far: a file with one line for each failover, to which an interrupted
 * campaign adds.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One disaster and what followed. */
export interface Failover {
  readonly target: "operator" | "plain";
  readonly disaster: string;
  /**
   * The longest time between two acknowledged writes, from the disaster until the cluster was whole again.
   */
  readonly outageMs: number;
  /** How long it took until the cluster was whole again. */
  readonly wholeMs: number;
  readonly leaderChanged: boolean;
}

/** What was written in a period and checked at its end. */
export interface Check {
  readonly acknowledged: number;
  readonly lost: number;
  readonly operations: number;
  readonly violations: readonly string[];
}

type Line = { readonly failover: Failover } | { readonly check: Check };

export class Results {
  readonly failovers: Failover[] = [];
  readonly checks: Check[] = [];
  readonly #file: string;

  /** Reads what an earlier run left in `folder`. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
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
    else this.checks.push(line.check);
  }

  count(target: Failover["target"]): number {
    return this.failovers.filter((each) => each.target === target).length;
  }

  /** The table that the documentation shows, and whether nothing was lost and everything was linearizable. */
  summary(): { readonly text: string; readonly holds: boolean } {
    const rows = Map.groupBy(this.failovers, ({ target, disaster }) => `${target}: ${disaster}`);
    const lines = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, failovers]) => rowOf(name, failovers));
    const sum = (of: (check: Check) => number): number => this.checks.reduce((total, check) => total + of(check), 0);
    const lost = sum(({ lost: count }) => count);
    const violations = sum(({ violations: found }) => found.length);
    const text = [
      "| target and disaster | failovers | leader changed | outage p50 / p99 / longest (s) | whole again p50 / p99 (s) |",
      "| --- | --: | --: | --: | --: |",
      ...lines,
      "",
      `${sum(({ acknowledged }) => acknowledged)} writes acknowledged, ${lost} lost; ${sum(({ operations }) => operations)} operations on registers, ${violations} keys not linearizable`,
    ].join("\n");
    return { text, holds: lost === 0 && violations === 0 };
  }
}

function rowOf(name: string, failovers: readonly Failover[]): string {
  const outages = failovers.map(({ outageMs }) => outageMs).sort((a, b) => a - b);
  const whole = failovers.map(({ wholeMs }) => wholeMs).sort((a, b) => a - b);
  const changed = failovers.filter(({ leaderChanged }) => leaderChanged).length;
  const at = (sorted: readonly number[], share: number): string =>
    ((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) / 1_000).toFixed(1);
  return `| ${name} | ${failovers.length} | ${changed} | ${at(outages, 0.5)} / ${at(outages, 0.99)} / ${at(outages, 1)} | ${at(whole, 0.5)} / ${at(whole, 0.99)} |`;
}
