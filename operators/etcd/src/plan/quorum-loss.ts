/** Whether a majority of the members is lost for good, and which survivor has the most; pure. */
import { shortHash } from "../kind/member-names.ts";
import { approvalAnnotation } from "../kind/quorum-recovery.ts";
import { isFounded, isServing, isVolumeLeaving, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";
import { isMember, quorumOf } from "./voters.ts";

/** A loss that waiting does not repair. */
export interface QuorumLoss {
  readonly voters: readonly string[];
  readonly lost: readonly SeenMember[];
  /** The most advanced first. */
  readonly survivors: readonly SeenMember[];
}

/**
 * Undefined while a majority may still come back. A member is lost that has given no sign of life for the
 * fencing time, and that its node does not report as ready. All others must say how far they are; otherwise
 * the choice would be between those that happen to answer. With a member that a user fenced a majority may
 * come back: it has its data, and starts as soon as it is released.
 */
export function quorumLoss(seen: Situation): QuorumLoss | undefined {
  if (seen.quorum || !isFounded(seen)) return undefined;
  const voters = seen.members.filter(isVoter);
  if (voters.some(({ name }) => seen.fencing.fenced.includes(name))) return undefined;
  const lost = voters.filter((member) => isLost(seen, member));
  if (voters.length - lost.length >= quorumOf(voters.length)) return undefined;
  const survivors = voters.filter((member) => member.position !== undefined);
  if (survivors.length + lost.length < voters.length) return undefined;
  if (survivors.some(({ status }) => status !== undefined && status.leaderId !== "")) return undefined;
  return { voters: voters.map(({ name }) => name), lost, survivors: survivors.toSorted(byProgress) };
}

function isVoter(member: SeenMember): boolean {
  return isMember(member) && member.recorded?.role !== "Learner" && member.status?.learner !== true;
}

function isLost({ cluster }: Situation, member: SeenMember): boolean {
  const fencingMs = cluster.spec.quorumRecovery.fencingSeconds * 1_000;
  return member.position === undefined && (member.absentForMs ?? 0) > fencingMs && !isServing(member);
}

/** A log that is committed further contains every shorter one. */
function byProgress(a: SeenMember, b: SeenMember): number {
  const index = (b.position?.raftIndex ?? 0) - (a.position?.raftIndex ?? 0);
  return index || (b.position?.revision ?? 0) - (a.position?.revision ?? 0) || (a.name < b.name ? -1 : 1);
}

/** Why the cluster cannot go on from this member. */
export function hindrance({ cluster, copyImage }: Situation, { name, volume }: SeenMember): string | undefined {
  if (cluster.spec.volumeClaimTemplate === undefined)
    return `${name} keeps its data in its pod, and they would end with it: restore from a backup`;
  if (volume === undefined) return `the volume of ${name} is gone: restore from a backup`;
  if (isVolumeLeaving({ name, volume }))
    return `the volume of ${name} is being deleted: copy it before its pod ends, and restore from the copy`;
  return copyImage === undefined && !cluster.spec.quorumRecovery.withoutCopy
    ? `the operator has no image to copy the data of ${name} with before it starts alone: set SETPOINT_OPERATOR_IMAGE in the operator's Deployment, or set spec.quorumRecovery.withoutCopy to true`
    : undefined;
}

/**
 * What a user writes to approve going on from this survivor; another loss or another survivor needs another
 * approval.
 */
export function approvalOf({ cluster }: Situation, survivor: SeenMember, since: string): string {
  return shortHash([cluster.metadata.uid, since, survivor.name].join("/"));
}

/** The survivor from which the cluster goes on now. */
export function chosenSurvivor(seen: Situation, loss: QuorumLoss | undefined): SeenMember | undefined {
  const [survivor] = loss?.survivors ?? [];
  if (survivor === undefined || !isAllowed(seen, survivor)) return undefined;
  return hindrance(seen, survivor) === undefined ? survivor : undefined;
}

/**
 * Whether the cluster may go on from this survivor, by its policy and the user's consent to what the status
 * showed.
 */
function isAllowed(seen: Situation, survivor: SeenMember): boolean {
  const { metadata, spec, status } = seen.cluster;
  const record = status?.quorumRecovery;
  if (record?.state !== "Waiting" || record.survivor !== survivor.name) return false;
  if (spec.quorumRecovery.policy === "never") return false;
  if (spec.quorumRecovery.policy === "afterTimeout") return true;
  return metadata.annotations?.[approvalAnnotation] === approvalOf(seen, survivor, record.since);
}
