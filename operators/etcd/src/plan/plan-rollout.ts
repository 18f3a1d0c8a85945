/** Brings changes of `plan`, `pod` and `options` to members that run, one at a time, the leader last. */
import { wait } from "setpoint";
import { othersAnswer } from "./check.ts";
import { act, type EtcdStep } from "./etcd-step.ts";
import { podReason } from "../seen/pod-reason.ts";
import { isLeader, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/** A member restarts on its volume with the new settings. Without volumes, another one takes its place. */
export function planRollout(seen: Situation): EtcdStep | undefined {
  const voters = seen.members.filter(({ listed }) => listed !== undefined);
  const outdated = voters.filter(({ name }) => seen.outdated.includes(name));
  const next = outdated.find((each) => !isLeader(each)) ?? outdated[0];
  if (next === undefined) return undefined;
  const reason =
    next.name === seen.copyToRemove
      ? `the copy of data on the volume of ${next.name} has been kept for long enough`
      : `${next.name} runs with older settings of plan, pod and options, or is asked to restart`;
  if (seen.cluster.spec.volumeClaimTemplate === undefined)
    return act("addLearner", {}, `${reason}, and has no volume: a new member takes its place`);
  if (isLeader(next)) return handOver(next, voters) ?? restarted(seen, next, `${reason}, and is the only member`);
  return restarted(seen, next, `${reason}: it restarts on its volume; followers first`);
}

/**
 * The next member to leave when there are too many: one with older settings, and the leader only if it is the
 * last of them.
 */
export function planSurplus(seen: Situation, voters: readonly SeenMember[]): EtcdStep | undefined {
  const replaced = seen.cluster.status?.slowDisks?.replacing;
  const isReplaced = voters.some(({ name }) => name === replaced);
  const outdated = voters.filter(({ name }) => (isReplaced ? name === replaced : seen.outdated.includes(name)));
  const removable = (outdated.some((each) => !isLeader(each)) ? outdated : voters).filter((each) => !isLeader(each));
  const leader = outdated.find(isLeader);
  if (leader !== undefined && outdated.length === 1)
    return handOver(leader, voters, isReplaced ? "is replaced" : undefined);
  // Any name will do; always taking the last one makes a repeated pass repeat itself.
  const last = removable.toSorted((a, b) => (a.name < b.name ? 1 : -1))[0];
  if (last?.listed === undefined) return undefined;
  const size: number = seen.cluster.spec.size;
  return act(
    "removeMember",
    { member: last.name, id: last.listed.id },
    `${voters.length} members, ${size} wanted; the leader stays`,
  );
}

/** Undefined without another member. */
function handOver(
  leader: SeenMember,
  voters: readonly SeenMember[],
  why = "is the last with older settings",
): EtcdStep | undefined {
  const heir = voters.find((each) => each.name !== leader.name && each.listed?.learner === false);
  if (heir?.listed === undefined) return undefined;
  return act(
    "moveLeader",
    { from: leader.name, to: heir.name, id: heir.listed.id },
    `${leader.name} ${why} and leads; ${heir.name} takes over before it stops`,
  );
}

function restarted(seen: Situation, { name }: SeenMember, reason: string): EtcdStep {
  return act("restartMember", { member: name, check: othersAnswer(seen, name) }, reason);
}

/**
 * A member that ends as soon as it starts with new settings is no casualty: the settings are wrong, and its
 * replacement would end in the same way. It waits on its volume for other settings.
 */
export function planRefusedSettings(seen: Situation, { name }: SeenMember): EtcdStep {
  if (seen.outdated.includes(name))
    return act("deletePod", { member: name }, `${name} starts again on its volume with the present settings`);
  return wait(
    `${name} ends as soon as it starts with the new settings: change spec.plan, spec.pod or spec.options${podReason(seen, name)}`,
    refusedMs,
  );
}

const refusedMs = 10_000;
