/** One strike: a disaster, and the wait until the cluster is whole again, under clients all the time. */
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Results } from "./results.ts";
import type { Arena, Disaster, Target } from "./target.ts";

export const wholeMsMax = 180_000;

/** What clients have written and got acknowledged. */
export interface Ledger {
  readonly acknowledged: number;
  /** The longest time without an acknowledgement since `mark`. */
  readonly gapMs: number;
  mark(): void;
}

/** Notes when what happens after a strike. */
export interface PhaseWatch {
  /** Milliseconds since its creation, by what happened. */
  end(): Promise<Readonly<Record<string, number>>>;
}

export interface Strike<T extends Target> {
  readonly arena: Arena<T>;
  readonly ledger: Ledger;
  readonly results: Results;
  /** Under which name the results have it. */
  readonly of: string;
  readonly phases?: (() => PhaseWatch) | undefined;
}

export async function strike<T extends Target>(
  { arena, ledger, results, of, phases }: Strike<T>,
  disaster: Disaster<T>,
): Promise<void> {
  const { target } = arena;
  await disaster.prepare?.();
  const before = await target.leader();
  ledger.mark();
  const startMs = performance.now();
  const watch = phases?.();
  await disaster.strike(arena);
  // The status may still be that of before; a moment later it is not.
  await delay(300);
  await target.until(`a whole cluster after "${disaster.name}"`, () => isWhole(target, ledger), wholeMsMax);
  const seen = await watch?.end();
  const failover = {
    target: of,
    disaster: disaster.name,
    outageMs: Math.round(ledger.gapMs),
    wholeMs: Math.round(performance.now() - startMs),
    leaderChanged: (await target.leader()) !== before,
    atMs: Date.now(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    ...(seen === undefined ? {} : { phases: seen }),
  };
  results.add({ failover });
}

/** All members are there, and writes are acknowledged. */
async function isWhole(target: Target, ledger: Ledger): Promise<boolean> {
  if (!(await target.isSettled())) return false;
  const { acknowledged } = ledger;
  await delay(100);
  return ledger.acknowledged > acknowledged;
}
