/** From an act to its end: undo what lasts, see the target recover, or end the chaos; pure. */
import { act, wait } from "setpoint";
import type { ActRecord } from "../kind/act-record.ts";
import { abortAfterSecondsDefault } from "../kind/hateful-set.ts";
import type { ChaosActions, ChaosStep } from "./chaos-step.ts";
import { troubleOf } from "./health.ts";
import { isLasting, podOf, targetOf } from "./observed-act.ts";
import type { Situation } from "./situation.ts";

/** No watch shows what a target says of itself. */
const recoveryPollMs = 1_000;

/** A fault ends with its time, with any harm, and when no act under way knows it. */
export function undo(situation: Situation): ChaosStep | undefined {
  const { seen, open } = situation;
  const known = open?.lasting?.policy;
  const stray = seen.policies.find((policy) => policy !== known);
  if (stray !== undefined) return undoing(stray, `${stray} belongs to no act under way`);
  if (open === undefined || known === undefined || !isLasting(seen, open)) return undefined;
  const why = whyToUndo(situation, open);
  return why === undefined ? undefined : undoing(known, why);
}

function undoing(policy: string, why: string): ChaosStep {
  return act<ChaosActions, "undo">("undo", { policy }, `Remove NetworkPolicy ${policy}: ${why}`);
}

function whyToUndo(situation: Situation, { at, lasting, target }: ActRecord): string | undefined {
  const { seen, nowMs, open } = situation;
  if (lasting !== undefined && Date.parse(lasting.until) <= nowMs) return "its time is over";
  if (nowMs < Date.parse(at)) return "the clock was set back, so its time is unknown";
  if (seen.set.spec.suspend) return "spec.suspend is set";
  if (open !== undefined && targetOf(seen, open)?.isGone === true) return `${target.kind} ${target.name} is gone`;
  return harmOf(situation);
}

export function withdrawGone({ seen, open }: Situation): ChaosStep | undefined {
  if (open === undefined || targetOf(seen, open)?.isGone !== true) return undefined;
  const why = `${open.target.kind} ${open.target.name} is gone`;
  return act<ChaosActions, "withdraw">("withdraw", { id: open.id, why }, why);
}

export function abortOnHarm(situation: Situation): ChaosStep | undefined {
  const why = harmOf(situation);
  if (situation.open === undefined || why === undefined) return undefined;
  return act<ChaosActions, "abort">("abort", { id: situation.open.id, why }, why);
}

function harmOf({ seen, nowMs, open }: Situation): string | undefined {
  const target = open === undefined ? undefined : targetOf(seen, open);
  if (open === undefined || target === undefined) return undefined;
  const { afterSeconds = abortAfterSecondsDefault, conditions = [] } = seen.set.spec.abort ?? {};
  const { kind, name } = open.target;
  const harm = target.conditions.find((said) =>
    conditions.some(({ type, status }) => said.type === type && said.status === status),
  );
  if (harm !== undefined)
    return `${kind} ${name} reports ${harm.type}=${harm.status} (${harm.reason}) after ${open.id}`;
  const trouble = troubleOf(target);
  const isLate = !isLasting(seen, open) && nowMs - beginMs(open) > afterSeconds * 1_000;
  if (trouble === undefined || !isLate) return undefined;
  return `${kind} ${name} has not recovered from ${open.id} in ${afterSeconds} s: ${trouble}`;
}

/** When the recovery could begin. */
function beginMs({ at, lasting }: ActRecord): number {
  return Date.parse(lasting?.endedAt ?? at);
}

export function awaitRecovery({ seen, nowMs, open }: Situation): ChaosStep | undefined {
  if (open === undefined) return undefined;
  const target = targetOf(seen, open);
  const { kind, name } = open.target;
  if (isLasting(seen, open)) return wait(`${open.id} lasts until ${open.lasting?.until}`, recoveryPollMs);
  const isEnding = open.lasting === undefined && podOf(seen, open, "ending") !== undefined;
  if (target === undefined || troubleOf(target) !== undefined || isEnding)
    return wait(`${kind} ${name} recovers from ${open.id}`, recoveryPollMs);
  const seconds = Math.max(0, Math.round((nowMs - beginMs(open)) / 1_000));
  const text = `${kind} ${name} has recovered after ${seconds} s from ${open.id}`;
  return act<ChaosActions, "recordRecovery">("recordRecovery", { id: open.id, seconds }, text);
}
