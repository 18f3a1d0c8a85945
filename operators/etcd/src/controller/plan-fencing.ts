/** Members that a user keeps stopped: which they are, and how they stop; pure. */
import {
  decideFencing,
  fencedText,
  type FencingDecision,
  fencingRefusalText,
  type SeenFencing,
} from "@setpoint/data-service";
import { wait } from "setpoint";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { wantsVolumes } from "../resources/member-volume.ts";
import { changeSteps, changeText } from "./change-plan.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import { isMember, quorumOf } from "./quorum-loss.ts";
import { heldRestore } from "./plan-restore.ts";
import { isHealthy, isLeader, podState, type Seen, type SeenMember } from "./seen.ts";

/** The decision by what this pass has observed. `restoring`: a restore stops or exchanges members now. */
export function observeFencing(
  cluster: EtcdCluster,
  members: readonly SeenMember[],
  quorum: boolean,
  restoring: boolean,
): FencingDecision {
  const known = members.filter((member) => (quorum ? member.listed !== undefined : isMember(member)));
  const facts = known.map((member) => ({
    name: member.name,
    votes: isVoting(member),
    healthy: isHealthy(member),
  }));
  return decideFencing(fencingFacts(cluster, facts, restoring));
}

function isVoting({ listed, recorded }: SeenMember): boolean {
  return listed === undefined ? recorded?.role !== "Learner" : !listed.learner;
}

type Members = SeenFencing["members"];

/** What decides about fencing, without the cluster's own word on `members` where a pass knows better. */
export function fencingFacts(cluster: EtcdCluster, members: Members, restoring: boolean): SeenFencing {
  return {
    wanted: cluster.spec.fencing,
    recorded: cluster.status?.fencing,
    members,
    quorum: quorumOf(members.filter(({ votes }) => votes).length),
    blocked: blockedReason(cluster, restoring),
  };
}

/** Members as the status of a cluster has them. */
export function recordedMembers({ status }: EtcdCluster): Members {
  return (status?.members ?? []).map(({ name, role, healthy }) => ({ name, votes: role !== "Learner", healthy }));
}

function blockedReason(cluster: EtcdCluster, restoring: boolean): string | undefined {
  const { spec, status } = cluster;
  if (!wantsVolumes(cluster)) return "members keep their data in their pods, and would lose them";
  if (status?.clusterID === undefined) return "the cluster has not started yet";
  if (spec.paused) return "spec.paused is true";
  if (spec.dryRun) return "spec.dryRun is true";
  if (restoring) return "a restore is in progress";
  const recovery = status.quorumRecovery?.state;
  return recovery === "Recovering" || recovery === "Growing" ? "a recovery of the quorum is in progress" : undefined;
}

export function isFenced({ fencing }: Seen, { name }: Pick<SeenMember, "name">): boolean {
  return fencing.fenced.includes(name);
}

/** Whether the fenced members alone leave no quorum; otherwise others have failed, too. */
export function endsQuorum(seen: Seen): boolean {
  const voters = seen.members.filter((member) => isMember(member) && isVoting(member));
  return voters.filter((member) => !isFenced(seen, member)).length < quorumOf(voters.length);
}

/** Whether a quorum has to be left when this member stops. */
export function needsQuorum({ cluster, quorum }: Seen, { listed }: SeenMember): boolean {
  return quorum && listed?.learner === false && cluster.spec.fencing?.allowQuorumLoss !== true;
}

/** Another member may have failed since the user's wish was accepted: that one is repaired first. */
function isSafe(seen: Seen, member: SeenMember): boolean {
  const voters = seen.members.filter(({ listed }) => listed?.learner === false);
  const others = voters.filter((each) => each.name !== member.name && !isFenced(seen, each) && isHealthy(each));
  return others.length >= quorumOf(voters.length) || !needsQuorum(seen, member);
}

/** Followers first; a leader hands over while there is a member to take over. */
export function planFencing(seen: Seen): EtcdStep | undefined {
  const running = seen.members.filter(
    (member) => isFenced(seen, member) && member.pod !== undefined && podState(member.pod) !== "terminating",
  );
  const next = running.find((member) => !isLeader(member)) ?? running[0];
  if (next === undefined || !isSafe(seen, next)) return undefined;
  const reason = `a user fenced ${next.name}: it stops, and keeps its volume and its membership`;
  const heir = seen.members.find(
    (member) => !isFenced(seen, member) && member.listed?.learner === false && isHealthy(member),
  );
  if (!seen.quorum || !isLeader(next) || heir?.listed === undefined)
    return act("fenceMember", { member: next.name }, reason);
  return act(
    "moveLeader",
    { from: next.name, to: heir.name, id: heir.listed.id },
    `${next.name} is going to be fenced and leads; ${heir.name} takes over before it stops`,
  );
}

/** A member fewer may fail, so nothing that stops or removes another one begins. */
export function planWhileFenced(seen: Seen): EtcdStep | undefined {
  const fenced = heldRestore(seen) ?? fencedText(seen.fencing);
  if (fenced === undefined) return undefined;
  const steps = changeSteps(seen);
  const held = steps.length === 0 ? undefined : `until then these steps wait: ${changeText(steps)}`;
  const parts = [fenced, held, fencingRefusalText(seen.fencing)].filter((text) => text !== undefined);
  return wait(parts.join("; "), recheckMs);
}
