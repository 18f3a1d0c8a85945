/** Stops all members of a cluster that hibernates; their volumes stay. */
import { wait } from "setpoint";
import { act, electionMs, type EtcdStep, recheckMs, restUnlessRefused } from "./etcd-step.ts";
import { heldRestore } from "./plan-restore.ts";
import { isLeader, podState } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

/**
 * Whether the cluster is to sleep now. A recovery from one survivor is finished first. In a dry run it sleeps
 * when it did before.
 */
export function isHibernated(seen: Pick<Situation, "cluster">): boolean {
  const { spec, status } = seen.cluster;
  return (spec.dryRun ? isAsleep(seen) : spec.hibernated) && status?.quorumRecovery?.state !== "Recovering";
}

/** Whether its members have stopped on purpose, or are stopping. */
export function isAsleep({ cluster: { status } }: Pick<Situation, "cluster">): boolean {
  return status?.phase === "Hibernated" || status?.phase === "Hibernating";
}

/** Followers first, so that the leader does not hand over again and again. */
export function planHibernation(seen: Situation): EtcdStep {
  if (seen.cluster.spec.volumeClaimTemplate === undefined)
    return wait("cannot hibernate: members keep their data in their pods, and would lose them", recheckMs);
  const running = seen.members.filter(({ pod }) => pod !== undefined && podState(pod) !== "terminating");
  const next = running.find((member) => !isLeader(member)) ?? running[0];
  if (next !== undefined) return act("deletePod", { member: next.name }, `the cluster hibernates: ${next.name} stops`);
  const stopping = seen.members.find(({ pod }) => pod !== undefined);
  if (stopping !== undefined) return wait(`the pod of ${stopping.name} is stopping`, electionMs);
  const held = heldRestore(seen);
  return held === undefined ? restUnlessRefused(seen.refusals) : wait(held, recheckMs);
}
