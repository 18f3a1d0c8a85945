/** What the status records of the copy of a survivor's data; pure. */
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { copyMade, hasRemovedCopies } from "../resources/survivor-copy.ts";
import type { Situation } from "../plan/situation.ts";

type QuorumRecord = NonNullable<NonNullable<EtcdCluster["status"]>["quorumRecovery"]>;
type Copy = NonNullable<QuorumRecord["copy"]>;

/** The copy with which the survivor started; undefined when the user did without. */
export function recordedCopy({ cluster, members }: Situation, survivor: string, now: string): Copy | undefined {
  const made = copyMade(members.find(({ name }) => name === survivor)?.pod);
  return made === undefined ? undefined : { ...made, madeAt: now, keptUntil: keptUntil(cluster, now) };
}

/** It follows the spec until it is removed, by a restart of its member or together with its volume. */
export function currentCopy(
  { cluster, members }: Situation,
  { copy, survivor }: QuorumRecord,
  now: string,
): Copy | undefined {
  if (copy === undefined || copy.removedAt !== undefined) return copy;
  const member = members.find(({ name }) => name === survivor);
  const isGone = member?.listed === undefined || hasRemovedCopies(member.pod);
  return { ...copy, keptUntil: keptUntil(cluster, copy.madeAt), ...(isGone ? { removedAt: now } : {}) };
}

function keptUntil({ spec }: EtcdCluster, madeAt: string): string {
  return new Date(Date.parse(madeAt) + spec.quorumRecovery.keepCopySeconds * 1_000).toISOString();
}
