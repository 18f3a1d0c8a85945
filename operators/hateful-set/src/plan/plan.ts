/** The next step of a HatefulSet; pure. The order of the rules is the policy. */
import { act, rest, wait } from "setpoint";
import { planByRules, type PlanRule } from "setpoint/sources";
import { abortionOf, occasionOf } from "../seen/occasion.ts";
import type { Seen } from "../seen/seen.ts";
import type { ActRecord } from "../kind/act-record.ts";
import { safetyDefaults } from "../kind/hateful-set.ts";
import { partitionSecondsDefault } from "../kind/targets.ts";
import type { Blow, ChaosActions, ChaosStep } from "./chaos-step.ts";
import { observedAct, struckPods, targetOf } from "./observed-act.ts";
import { abortOnHarm, awaitRecovery, undo, withdrawGone } from "./recovery.ts";
import type { Situation } from "./situation.ts";
import { budgetFreeMs, decisionMs, isScheduled, isSpared } from "./schedule.ts";
import { chooseVictim, troubleWith, type Victim } from "./victims.ts";
import { isWindowOpen } from "./window.ts";

const unsafePollMs = 5_000;
const windowPollMs = 60_000;
/** What the API has not allowed for so long is not done any more: the situation is another one by now. */
const intendedMsMax = 120_000;

const rules: readonly PlanRule<Situation, ChaosActions>[] = [
  { name: "undo", when: () => true, step: undo },
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

/** The record is there; the act is done now, unless the situation has changed since. */
function carryOut({ seen, nowMs, open }: Situation): ChaosStep | undefined {
  if (open === undefined) return undefined;
  const [target, pods] = [targetOf(seen, open), struckPods(seen, open)];
  if (target === undefined) return undefined;
  const trouble = pods.length === 0 ? "its pods are gone" : troubleWith(seen, { target, pods });
  const isLate = nowMs - Date.parse(open.at) > intendedMsMax;
  if (trouble === undefined && !isLate && !seen.set.spec.suspend)
    return act<ChaosActions, "strike">("strike", { act: open, blow: blowOf(seen, open) }, strikeText(open));
  const why = trouble ?? (isLate ? `the API has not allowed it for ${intendedMsMax / 1_000} s` : "spec.suspend is set");
  return act<ChaosActions, "withdraw">("withdraw", { id: open.id, why }, `${open.victim.name} is spared: ${why}`);
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
  const { seen, occasion } = situation;
  if (occasion === undefined || occasion.kind === "act") return undefined;
  const choice = chooseVictim(seen, occasion.id);
  if ("nobody" in choice) return decline(situation, choice.nobody);
  if ("trouble" in choice) return wait(`${occasion.id} waits: ${choice.trouble}`, unsafePollMs);
  const cause = occasion.kind === "request" ? `the request ${occasion.request}` : occasion.id;
  const record = recordOf(choice.victim, occasion.id, cause, situation);
  if (seen.set.spec.dryRun)
    return act<ChaosActions, "pretend">(
      "pretend",
      { act: { ...record, phase: "Pretended" } },
      `Dry run: ${strikeText(record)}`,
    );
  return act<ChaosActions, "strike">("strike", { act: record, blow: blowOf(seen, record) }, strikeText(record));
}

function recordOf(victim: Victim, id: string, cause: string, { seen, nowMs }: Situation): ActRecord {
  const { target, wanted, kind, name, uid } = victim;
  const role = roleOf(victim);
  const lasting = lastingOf(victim, `${seen.set.metadata.name}-${id}`, nowMs);
  const at = new Date(nowMs).toISOString();
  return {
    ...{ id, type: wanted.type, victim: { kind, name, uid } },
    ...(role === undefined ? {} : { role }),
    target: { apiVersion: target.apiVersion, kind: target.kind, name: target.name },
    ...(lasting === undefined ? {} : { lasting }),
    ...{ cause, at, phase: "Intended", said: [{ at, text: target.said }] },
  };
}

function roleOf({ target, pods, wanted, name }: Victim): string | undefined {
  return target.members.find((member) => member.name === name)?.role ?? pods[0]?.labelRoles[0] ?? wanted.role;
}

function lastingOf({ wanted, podLabels }: Victim, policy: string, nowMs: number): ActRecord["lasting"] {
  if (wanted.type !== "Partition") return undefined;
  const seconds = wanted.durationSeconds ?? partitionSecondsDefault;
  return { policy, podLabels, until: new Date(nowMs + seconds * 1_000).toISOString() };
}

function blowOf({ set }: Seen, { lasting }: ActRecord): Blow {
  if (lasting !== undefined) return { method: "partition" };
  const { safety, gracePeriodSeconds } = set.spec;
  const { budgets } = { ...safetyDefaults, ...safety };
  return {
    method: budgets === "Respect" ? "evict" : "delete",
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
}

function strikeText({ victim, role, target, cause, lasting }: ActRecord): string {
  const what = lasting === undefined ? "End" : "Cut off";
  const kind = victim.kind === "Pod" ? "pod" : victim.kind;
  const who = role === undefined ? victim.name : `${victim.name} (${role})`;
  const time = lasting === undefined ? "" : ` until ${lasting.until}`;
  return `${what} ${kind} ${who} of ${target.kind} ${target.name}${time} for ${cause}`;
}
