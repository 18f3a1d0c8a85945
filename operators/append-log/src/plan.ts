/** The next step of an AppendLog; pure. */
import { act, rest, type Step, wait } from "setpoint";
import { planByRules, type PlanRule } from "setpoint/sources";
import { leaderOf } from "./leader.ts";
import { addressOf, claimOf } from "./resources.ts";
import type { Seen, SeenMember } from "./seen.ts";

export interface LogActions {
  readonly stop: { readonly member: string };
  readonly start: { readonly member: string; readonly claim: string };
  readonly promote: { readonly member: string };
  readonly demote: { readonly member: string };
  readonly discardClaims: Record<never, never>;
}

type LogStep = Step<LogActions>;

/** No watch shows what servers report. */
const pollMs = 2_000;
const blockedMs = 5_000;

const rules: readonly PlanRule<Seen, LogActions>[] = [
  { name: "refused", when: ({ data }) => data.refusal !== undefined, step: ({ data }) => blocked(data.refusal) },
  { name: "stop", when: () => true, step: stopWrong },
  { name: "promote", when: () => true, step: promote },
  {
    name: "store",
    when: ({ store }) => store.storeRefusal !== undefined,
    step: ({ store }) => blocked(store.storeRefusal),
  },
  { name: "start", when: () => true, step: startMissing },
  { name: "follow", when: isLed, step: demoteOthers },
  { name: "claims", when: ({ unneeded }) => unneeded.length > 0, step: discardClaims },
  { name: "rest", when: () => true, step: () => rest(pollMs) },
];

export const plan: (seen: Seen, nowMs: number) => LogStep = planByRules(rules);

function blocked(why = ""): LogStep {
  return wait(why, blockedMs);
}

/** A server that has ended, or has its data elsewhere than it should. */
function stopWrong({ members }: Seen): LogStep | undefined {
  const wrong = members.find(({ pod, claim }) => pod !== undefined && (hasEnded(pod) || claimOf(pod) !== claim));
  if (wrong === undefined) return undefined;
  if (wrong.pod?.metadata.deletionTimestamp !== undefined) return wait(`${wrong.name} is stopping`, pollMs);
  return act<LogActions, "stop">("stop", { member: wrong.name }, `${wrong.name} has ended, or has other data`);
}

function hasEnded({ status }: NonNullable<SeenMember["pod"]>): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

function promote(seen: Seen): LogStep | undefined {
  const { timeline = 1, primary: member = "" } = leaderOf(seen);
  if (leading(seen)?.report === undefined || isLed(seen)) return undefined;
  return act<LogActions, "promote">("promote", { member }, `${member} accepts entries on timeline ${timeline}`);
}

export function leading(seen: Seen): SeenMember | undefined {
  const { primary } = leaderOf(seen);
  return seen.members.find(({ name }) => name === primary);
}

/** Whether the primary knows that it is the one. */
export function isLed(seen: Seen): boolean {
  const report = leading(seen)?.report;
  return report?.role === "primary" && report.timeline >= (leaderOf(seen).timeline ?? 1);
}

function startMissing({ members }: Seen): LogStep | undefined {
  const missing = members.find(({ pod, claim }) => pod === undefined && claim !== undefined);
  if (missing?.claim === undefined) return undefined;
  const { name: member, claim } = missing;
  return act<LogActions, "start">("start", { member, claim }, `${member} starts on ${claim}`);
}

/** A member that copies from nobody, or from another one than the primary. */
function demoteOthers(seen: Seen): LogStep | undefined {
  const leader = leading(seen);
  const address = addressOf(leader?.pod);
  const other = seen.members.find(
    ({ name, report }) => name !== leader?.name && report !== undefined && report.follows !== address,
  );
  if (other === undefined) return undefined;
  return act<LogActions, "demote">("demote", { member: other.name }, `${other.name} copies from ${leader?.name}`);
}

function discardClaims({ unneeded }: Seen): LogStep {
  const names = unneeded.map(({ metadata }) => metadata.name).join(", ");
  return act<LogActions, "discardClaims">("discardClaims", {}, `no restore needs ${names} any more`);
}
