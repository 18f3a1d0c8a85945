/**
 * Before a switchover, poolers hold their clients back: what they send waits for the new primary, instead of
 * failing with the old one; pure.
 */
import { wait } from "setpoint";
import type { Seen } from "../seen/seen.ts";
import { act, type PostgresStep } from "./postgres-step.ts";

/** Transactions that are open for longer are broken off, as without a pooler. */
export const pauseMsMax = 8_000;
/** Poolers give up waiting by themselves soon after. */
const forgottenMs = 2 * pauseMsMax;
const lookAgainMs = 100;

/** The step, or what comes before it. */
export function poolersFirst(seen: Seen, step: PostgresStep, nowMs: number): PostgresStep {
  if (step.kind !== "act" || step.action !== "depose" || step.args.handover !== "switchover") return step;
  const next = nextTerm(seen);
  const open = seen.poolers.filter(({ holdsWriters, pausedFor }) => holdsWriters && pausedFor !== next);
  if (open.length === 0) return step;
  const names = open.map(({ name }) => name).join(", ");
  const { pausing } = seen.cluster.status ?? {};
  const heir = step.args.candidate ?? "another instance";
  if (pausing?.for !== next || nowMs - Date.parse(pausing.since) > forgottenMs)
    return act("pausePoolers", { next }, `${names}: clients wait before ${heir} takes over`);
  const isLate = nowMs - Date.parse(pausing.since) >= pauseMsMax;
  return isLate ? step : wait(`${names}: transactions end before ${heir} takes over`, lookAgainMs);
}

function nextTerm({ cluster }: Seen): string {
  return String((cluster.status?.term ?? 0) + 1);
}

/** Until the former primary is deposed, or nobody asks for that any more. */
export function isPausing(seen: Seen, step: PostgresStep, nowMs: number): boolean {
  const { pausing } = seen.cluster.status ?? {};
  if (pausing === undefined || step.kind === "rest" || pausing.for !== nextTerm(seen)) return false;
  return step.kind !== "act" || step.action !== "depose" ? nowMs - Date.parse(pausing.since) <= forgottenMs : false;
}
