/** The next step of a HatefulSet; pure. The order of the rules is the policy. */
import { act, rest, wait } from "setpoint";
import { planByRules, type PlanRule } from "setpoint/sources";
import { abortionOf, type Occasion, occasionOf } from "../seen/occasion.ts";
import type { Seen } from "../seen/seen.ts";
import type { ActRecord } from "../kind/act-record.ts";
import { abortAfterSecondsDefault, safetyDefaults } from "../kind/hateful-set.ts";
import type { Blow, ChaosActions, ChaosStep } from "./chaos-step.ts";
import { troubleOf } from "./health.ts";
import { observedAct, podOf, targetOf } from "./observed-act.ts";
import { budgetFreeMs, decisionMs, isScheduled, isSpared } from "./schedule.ts";
import { chooseVictim, troubleWith, type Victim } from "./victims.ts";
import { isWindowOpen } from "./window.ts";

/** No watch shows what a target says of itself. */
const recoveryPollMs = 1_000;
const unsafePollMs = 5_000;
const windowPollMs = 60_000;
/** What the API has not allowed for so long is not done any more: the situation is another one by now. */
const intendedMsMax = 120_000;

/** What rules are asked about. */
interface Situation {
  readonly seen: Seen;
  readonly nowMs: number;
  readonly occasion: Occasion | undefined;
  /** The act under way as it is now. */
  readonly open: ActRecord | undefined;
}

const rules: readonly PlanRule<Situation, ChaosActions>[] = [
  { name: "target gone", when: () => true, step: withdrawGone },
  { name: "carry out", when: ({ open }) => open?.phase === "Intended", step: carryOut },
  { name: "harm", when: () => true, step: abortOnHarm },
  { name: "recovery", when: ({ open }) => open?.phase === "Struck", step: awaitRecovery },
  {
    name: "suspended",
    when: ({ seen }) => seen.set.spec.suspend,
    step: () => stalled("Suspended", "spec.suspend is set"),
  },
  { name: "aborted", when: ({ seen }) => abortionOf(seen.set) !== undefined, step: restAborted },
  { name: "idle", when: ({ occasion }) => occasion === undefined, step: restUntilDecision },
  { name: "window", when: ({ seen, nowMs }) => !isWindowOpen(seen.set.spec.window, nowMs), step: outsideOfWindow },
  { name: "spared", when: () => true, step: spare },
  { name: "budget", when: () => true, step: keepBudget },
  { name: "strike", when: () => true, step: strike },
];

const decide = planByRules(rules);

export function plan(seen: Seen, nowMs: number): ChaosStep {
  const occasion = occasionOf(seen.set, nowMs);
  const open = occasion?.kind === "act" ? observedAct(seen, occasion.act, nowMs) : undefined;
  return decide({ seen, nowMs, occasion, open }, nowMs);
}

function stalled(reason: string, message: string): ChaosStep {
  return rest(undefined, { reason, message });
}

function restAborted({ seen: { set } }: Situation): ChaosStep {
  return stalled("Aborted", abortionOf(set)?.reason ?? "");
}

function withdrawGone({ seen, open }: Situation): ChaosStep | undefined {
  if (open === undefined || targetOf(seen, open)?.isGone !== true) return undefined;
  const { kind, name } = open.target;
  return act<ChaosActions, "withdraw">(
    "withdraw",
    { id: open.id, why: `${kind} ${name} is gone` },
    `${kind} ${name} is gone`,
  );
}

/** The record is there; the act is done now, unless the situation has changed since. */
function carryOut({ seen, nowMs, open }: Situation): ChaosStep | undefined {
  if (open === undefined) return undefined;
  const [target, pod] = [targetOf(seen, open), podOf(seen, open)];
  if (target === undefined || pod === undefined) return undefined;
  const trouble = troubleWith(seen, { target, pod });
  const isLate = nowMs - Date.parse(open.at) > intendedMsMax;
  if (trouble === undefined && !isLate && !seen.set.spec.suspend)
    return act<ChaosActions, "strike">("strike", { act: open, blow: blowOf(seen) }, strikeText(open));
  const why = trouble ?? (isLate ? `the API has not allowed it for ${intendedMsMax / 1_000} s` : "spec.suspend is set");
  return act<ChaosActions, "withdraw">("withdraw", { id: open.id, why }, `${open.victim.name} is spared: ${why}`);
}

function abortOnHarm({ seen, nowMs, open }: Situation): ChaosStep | undefined {
  if (open === undefined) return undefined;
  const { afterSeconds = abortAfterSecondsDefault, conditions = [] } = seen.set.spec.abort ?? {};
  const target = targetOf(seen, open);
  const harm = target?.conditions.find((said) =>
    conditions.some(({ type, status }) => said.type === type && said.status === status),
  );
  const { kind, name } = open.target;
  const trouble = target === undefined ? undefined : troubleOf(target);
  const isLate = trouble !== undefined && nowMs - Date.parse(open.at) > afterSeconds * 1_000;
  if (harm === undefined && !isLate) return undefined;
  const why =
    harm === undefined
      ? `${kind} ${name} has not recovered from ${open.id} in ${afterSeconds} s: ${trouble}`
      : `${kind} ${name} reports ${harm.type}=${harm.status} (${harm.reason}) after ${open.id}`;
  return act<ChaosActions, "abort">("abort", { id: open.id, why }, why);
}

function awaitRecovery({ seen, nowMs, open }: Situation): ChaosStep | undefined {
  if (open === undefined) return undefined;
  const target = targetOf(seen, open);
  const { kind, name } = open.target;
  if (target === undefined || troubleOf(target) !== undefined || podOf(seen, open, "ending") !== undefined)
    return wait(`${kind} ${name} recovers from ${open.id}`, recoveryPollMs);
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(open.at)) / 1_000));
  const text = `${kind} ${name} has recovered after ${seconds} s from ${open.id}`;
  return act<ChaosActions, "recordRecovery">("recordRecovery", { id: open.id, seconds }, text);
}

function restUntilDecision({ seen, nowMs }: Situation): ChaosStep {
  if (!isScheduled(seen)) return rest();
  const { nextDecision, observedGeneration, interval = 1 } = seen.set.status ?? {};
  const isKept = nextDecision !== undefined && observedGeneration === seen.set.metadata.generation;
  return rest((isKept ? Date.parse(nextDecision) : decisionMs(seen, interval, nowMs)) - nowMs);
}

/** This interval brings no act; the next decision is that of the next one. */
function restUntilNext({ seen, nowMs }: Situation): ChaosStep {
  return rest(nextMs(seen, nowMs) - nowMs);
}

function nextMs(seen: Seen, nowMs: number): number {
  return decisionMs(seen, (seen.set.status?.interval ?? 1) + 1, nowMs);
}

function outsideOfWindow(situation: Situation): ChaosStep {
  if (situation.occasion?.kind === "interval") return restUntilNext(situation);
  return wait("The request waits for the window", windowPollMs);
}

function spare(situation: Situation): ChaosStep | undefined {
  const { seen, occasion } = situation;
  return occasion?.kind === "interval" && isSpared(seen, occasion.id) ? restUntilNext(situation) : undefined;
}

function keepBudget(situation: Situation): ChaosStep | undefined {
  const { seen, nowMs, occasion } = situation;
  const freeMs = budgetFreeMs(seen, nowMs);
  if (freeMs === undefined) return undefined;
  if (occasion?.kind === "interval") return restUntilNext(situation);
  const { acts, seconds } = seen.set.spec.budget;
  return wait(`The request waits for the budget of ${acts} acts in ${seconds} s`, freeMs - nowMs);
}

/** Labels of pods and owners that opt in wake nobody, so the next interval or request looks again. */
function decline(situation: Situation, why: string): ChaosStep {
  const { seen, nowMs, occasion } = situation;
  if (occasion?.kind === "request")
    return act<ChaosActions, "decline">("decline", { why }, `The request ${occasion.request} struck nobody: ${why}`);
  return rest(nextMs(seen, nowMs) - nowMs, { reason: "NoVictim", message: why });
}

function strike(situation: Situation): ChaosStep | undefined {
  const { seen, nowMs, occasion } = situation;
  if (occasion === undefined || occasion.kind === "act") return undefined;
  const choice = chooseVictim(seen, occasion.id);
  if ("nobody" in choice) return decline(situation, choice.nobody);
  if ("trouble" in choice) return wait(`${occasion.id} waits: ${choice.trouble}`, unsafePollMs);
  const cause = occasion.kind === "request" ? `the request ${occasion.request}` : occasion.id;
  const record = recordOf(choice.victim, occasion.id, cause, nowMs);
  if (seen.set.spec.dryRun)
    return act<ChaosActions, "pretend">(
      "pretend",
      { act: { ...record, phase: "Pretended" } },
      `Dry run: ${strikeText(record)}`,
    );
  return act<ChaosActions, "strike">("strike", { act: record, blow: blowOf(seen) }, strikeText(record));
}

function recordOf({ target, pod, type, role }: Victim, id: string, cause: string, nowMs: number): ActRecord {
  const { name, uid } = pod.pod.metadata;
  const declared = target.members.find((member) => member.name === name)?.role ?? pod.labelRoles[0] ?? role;
  return {
    id,
    type,
    victim: { kind: "Pod", name, uid },
    ...(declared === undefined ? {} : { role: declared }),
    target: { apiVersion: target.apiVersion, kind: target.kind, name: target.name },
    cause,
    at: new Date(nowMs).toISOString(),
    phase: "Intended",
    said: [{ at: new Date(nowMs).toISOString(), text: target.said }],
  };
}

function blowOf({ set }: Seen): Blow {
  const { safety, gracePeriodSeconds } = set.spec;
  const { budgets } = { ...safetyDefaults, ...safety };
  return {
    method: budgets === "Respect" ? "evict" : "delete",
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
}

function strikeText({ victim, role, target, cause }: ActRecord): string {
  const who = role === undefined ? victim.name : `${victim.name} (${role})`;
  return `End pod ${who} of ${target.kind} ${target.name} for ${cause}`;
}
