/** Which members are fenced, by the spec, the record and the members that there are; pure. */
import { decideFencing, type FencingDecision, type SeenFencing } from "@setpoint/data-service";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { wantsVolumes } from "../resources/member-volume.ts";
import { isHealthy, type SeenMember } from "../seen/seen.ts";
import { isMember, quorumOf } from "./voters.ts";

/** The decision by what this pass has observed. `restoring`: a restore stops or exchanges members now. */
export function judgeFencing(
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

export function isVoting({ listed, recorded }: SeenMember): boolean {
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
