/** Grows and shrinks the membership, and waits until all members are well; pure. */
import { wait } from "setpoint";
import { isFenced } from "./fenced-members.ts";
import { act, electionMs, type EtcdStep, lookAgainMs } from "./etcd-step.ts";
import { planSurplus } from "./plan-rollout.ts";
import type { Situation } from "./situation.ts";
import { podReason } from "../seen/pod-reason.ts";
import { isHealthy, isLeader, isServing, isVolumeLeaving, podState, type SeenMember } from "../seen/seen.ts";

/** Orphaned pods and volumes: what a removal or a crash between two steps left behind. */
export function planCleanup(seen: Situation): EtcdStep | undefined {
  for (const member of seen.members) {
    if (member.listed !== undefined) continue;
    if (member.pod !== undefined && podState(member.pod) !== "terminating")
      return act("deletePod", { member: member.name }, `${member.name} is not a member of etcd any more`);
    if (isOlder(member, seen)) continue;
    if (member.pod === undefined && member.volume !== undefined && !isVolumeLeaving(member))
      return act(
        "deleteVolume",
        { member: member.name },
        `the volume of ${member.name}, which is not a member any more, holds nothing of use`,
      );
  }
  return undefined;
}

/** A user gave the cluster a volume that is older than it; only a user deletes it. */
function isOlder({ volume }: SeenMember, { cluster }: Situation): boolean {
  const madeAt = Date.parse(volume?.metadata.creationTimestamp ?? "");
  return madeAt < Date.parse(cluster.metadata.creationTimestamp ?? "");
}

/** A learner is promoted when it has 90 % of the leader's log; etcd checks that again. */
export function planLearners(seen: Situation): EtcdStep | undefined {
  const learner = seen.members.find((each) => each.listed?.learner === true);
  if (learner?.listed === undefined || isFenced(seen, learner)) return undefined;
  const leader = seen.members.find(isLeader);
  if (learner.status === undefined)
    return wait(`learner ${learner.name} has not started${podReason(seen, learner.name)}`, 500);
  if (leader?.status === undefined) return wait("no member says that it is the leader", 500);
  if (learner.status.raftIndex < leader.status.raftIndex * 0.9)
    return wait(
      `learner ${learner.name} has ${learner.status.raftIndex} of ${leader.status.raftIndex} log entries`,
      500,
    );
  return act("promote", { member: learner.name, id: learner.listed.id }, `learner ${learner.name} is in sync`);
}

/** Every later step needs all members healthy; of those that a user fenced nobody expects it. */
export function planWaitForHealth(seen: Situation): EtcdStep | undefined {
  const awaited = seen.members.filter((each) => each.listed !== undefined && !isFenced(seen, each));
  const sick = awaited.find((each) => !isHealthy(each));
  if (sick !== undefined) return wait(`member ${sick.name} does not answer${podReason(seen, sick.name)}`, 500);
  const notServing = awaited.find((each) => each.listed?.learner === false && !isServing(each));
  if (notServing !== undefined)
    return wait(`the pod of ${notServing.name} is not ready${podReason(seen, notServing.name)}`, lookAgainMs);
  const leaving = awaited.find((each) => podState(each.pod) === "terminating");
  return leaving === undefined ? undefined : wait(`the pod of ${leaving.name} is stopping`, lookAgainMs);
}

export function planSize(seen: Situation): EtcdStep | undefined {
  const voters = seen.members.filter((each) => each.listed !== undefined);
  const size: number = seen.cluster.spec.size;
  if (voters.length < size) return act("addLearner", {}, `${voters.length} members, ${size} wanted`);
  if (voters.length === size) return undefined;
  const leaving = seen.members.find((each) => each.listed === undefined && each.pod !== undefined);
  if (leaving !== undefined) return wait(`the pod of ${leaving.name}, which was removed, is stopping`, electionMs);
  return planSurplus(seen, voters) ?? wait("no member but the leader could be removed", lookAgainMs);
}
