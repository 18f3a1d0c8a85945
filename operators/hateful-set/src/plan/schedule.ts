/** When the next decision is made, and how many acts the budget still allows; pure. */
import { abortionOf } from "../seen/occasion.ts";
import type { Seen } from "../seen/seen.ts";
import { chance } from "./chance.ts";
import { seedOf } from "./victims.ts";

/** The time of a decision, counted from the one before. */
export function decisionMs(seen: Seen, interval: number, fromMs: number): number {
  const { interval: seconds, jitter } = seen.set.spec;
  const share = (jitter / 100) * (2 * chance(seedOf(seen), `interval-${interval}`, "time") - 1);
  // A time that is written has no fractions.
  return fromMs + Math.max(1, Math.round(seconds * (1 + share))) * 1_000;
}

/** Whether intervals bring acts now. */
export function isScheduled({ set }: Seen): boolean {
  return set.spec.chaosLevel > 0 && !set.spec.suspend && abortionOf(set) === undefined;
}

/** Whether the interval brings no act, by its chance. */
export function isSpared(seen: Seen, occasion: string): boolean {
  return chance(seedOf(seen), occasion, "level") >= seen.set.spec.chaosLevel / 10;
}

/** The acts that count for the budget now, oldest first. */
export function countedActs({ set }: Seen, nowMs: number): readonly string[] {
  const sinceMs = nowMs - set.spec.budget.seconds * 1_000;
  return (set.status?.recentActs ?? []).filter((at) => Date.parse(at) > sinceMs);
}

/** When the budget allows the next act; undefined when it does now. */
export function budgetFreeMs(seen: Seen, nowMs: number): number | undefined {
  const { acts, seconds } = seen.set.spec.budget;
  const counted = countedActs(seen, nowMs);
  const oldest = counted[counted.length - acts];
  return oldest === undefined ? undefined : Date.parse(oldest) + seconds * 1_000;
}
