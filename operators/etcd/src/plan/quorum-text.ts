/** What the status reports about a lost quorum; pure. */
import { approvalAnnotation } from "../kind/quorum-recovery.ts";
import { approvalOf, hindrance, type QuorumLoss } from "./quorum-loss.ts";
import { isVolumeLeaving, podState, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

export function lossText(seen: Situation, loss: QuorumLoss): string {
  const { voters, lost, survivors } = loss;
  const gone = lost.map((member) => `${member.name} (${whyLost(seen, member)})`).join(", ");
  const there = survivors.map(({ name, position }) => `${name} at revision ${position?.revision ?? 0}`).join(", ");
  const said = `${lost.length} of ${voters.length} voting members are lost: ${gone}`;
  return survivors.length === 0 ? `${said}; none survives` : `${said}; there is ${there}`;
}

function whyLost({ cluster }: Situation, member: SeenMember): string {
  const { pod, volume } = member;
  if (cluster.spec.volumeClaimTemplate !== undefined && volume === undefined) return "its volume is gone";
  // As long as there is a pod with it, which may have ended.
  if (isVolumeLeaving(member)) return "its volume is being deleted";
  const state = podState(pod);
  if (state === "missing") return "its pod is gone";
  return state === "running" ? "it is silent" : `its pod is ${state}`;
}

/** What the survivor may lack, by the highest revision that was ever recorded. */
export function possibleLoss({ highestRevision }: Situation, survivor: SeenMember | undefined): string {
  if (survivor?.position === undefined) return "Everything that no backup has";
  const { revision } = survivor.position;
  const rest = "writes that only lost members had are lost";
  if (highestRevision === undefined) return `Unknown: ${rest}`;
  const missing = highestRevision - revision;
  const seen = `revision ${highestRevision} was seen before`;
  return missing > 0
    ? `At least ${missing} revisions: ${seen}, ${survivor.name} has ${revision}`
    : `None known: ${survivor.name} has revision ${revision}, and ${seen}; later ${rest}`;
}

/** What has to happen for the cluster to go on. */
export function consentText(seen: Situation, { survivors: [survivor] }: QuorumLoss): string {
  const { spec, status } = seen.cluster;
  const { policy } = spec.quorumRecovery;
  if (survivor === undefined) return "restore from a backup";
  const problem = hindrance(seen, survivor);
  if (problem !== undefined) return problem;
  if (policy === "never") return "spec.quorumRecovery.policy is never: restore from a backup, or change the policy";
  if (policy === "afterTimeout") return `the cluster goes on from ${survivor.name}`;
  const record = status?.quorumRecovery;
  const since = record?.state === "Waiting" ? record.since : undefined;
  const value =
    since === undefined ? "what status.quorumRecovery.approval says" : `"${approvalOf(seen, survivor, since)}"`;
  return `to go on from ${survivor.name}, set the annotation ${approvalAnnotation} to ${value}`;
}
