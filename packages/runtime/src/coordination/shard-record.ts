/**
 * What the members of a group write for each other, in Leases that carry the group's label. Each member has
 * one Lease, which shows that it lives and up to which epoch it has released its keys. One Lease of the
 * group's name holds the history of epochs. All members agree on it, because they change it only by
 * compare-and-swap.
 */
import type { Stored } from "@setpoint/client";
import { Lease } from "./lease.ts";
import type { SlotMember } from "./slots.ts";

export const groupLabel = "setpoint.dev/shards";
/** On a member's Lease: it runs nothing any more that is another's in this epoch. */
export const ackedAnnotation = "setpoint.dev/shard-acked";
/** On the group's Lease: the epochs, the newest last. */
const epochsAnnotation = "setpoint.dev/shard-epochs";
/**
 * What a repaired record is ahead of all that its author knows: no living member has seen so many changes
 * since, as each takes a write of the record, and who lives has looked within the renew deadline.
 */
const repairLeap = 1_000;
/** No group comes so far by itself, and a Lease takes no number above 2^31: larger ones are damage. */
const epochMax = 2 ** 30;

/** Who the members were from one change of the membership to the next. */
export interface Epoch {
  readonly epoch: number;
  readonly members: readonly SlotMember[];
  /** Who owned what is not known: each of them may have owned everything. */
  readonly isUnknown?: boolean;
}

/** A member's Lease as seen in a list. */
export interface SeenMember extends SlotMember {
  readonly acked: number;
  readonly lease: Stored<Lease>;
}

/** The group at one revision. */
export interface SeenGroup {
  readonly record: Stored<Lease> | undefined;
  /**
   * The newest is last. The earlier ones have members that have not released their keys yet. Empty without a
   * record.
   */
  readonly epochs: readonly Epoch[];
  readonly members: readonly SeenMember[];
  /**
   * The epochs are remembered, and not in the record: it is gone, cannot be read, or is older than what was
   * seen before.
   */
  readonly isRecordLost?: boolean;
}

export function seenGroup(group: string, leases: readonly Stored<Lease>[]): SeenGroup {
  const record = leases.find(({ metadata }) => metadata.name === group);
  const members = leases
    .filter((lease) => lease !== record)
    .map((lease) => ({
      name: lease.spec.holderIdentity ?? lease.metadata.name,
      uid: lease.metadata.uid,
      acked: ackedOf(lease),
      lease,
    }))
    .toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  const epochs = epochsOf(record) ?? [];
  // A member that has released an epoch has seen it.
  const ackedMax = Math.max(0, ...members.map(({ acked }) => acked));
  const isRecordLost = record !== undefined && (epochs.at(-1)?.epoch ?? 0) < Math.max(ackedMax, 1);
  return { record, epochs: isRecordLost ? [] : epochs, members, ...(isRecordLost ? { isRecordLost } : {}) };
}

/** An unreadable value releases nothing: the member writes it again with its next renewal. */
function ackedOf({ metadata }: Stored<Lease>): number {
  const acked = Number(metadata.annotations?.[ackedAnnotation] ?? 0);
  return Number.isSafeInteger(acked) ? acked : 0;
}

/** The group's Lease with this history, written by `identity`. */
export function recordWith(
  record: Stored<Lease> | undefined,
  epochs: readonly Epoch[],
  group: { readonly name: string; readonly namespace: string; readonly identity: string },
): Lease {
  const { name, namespace, identity } = group;
  const spec = { holderIdentity: identity, leaseTransitions: epochs.at(-1)?.epoch ?? 0 };
  const base = record ?? Lease({ name, namespace, spec });
  const written = epochs.map(({ epoch, members, isUnknown }) => [
    epoch,
    members.map((member) => [member.name, member.uid]),
    ...(isUnknown === true ? ["unknown"] : []),
  ]);
  const annotations = { ...base.metadata.annotations, [epochsAnnotation]: JSON.stringify(written) };
  const metadata = { ...base.metadata, labels: { ...base.metadata.labels, [groupLabel]: name }, annotations };
  return { ...base, metadata, spec: { ...base.spec, ...spec } };
}

/** Undefined when there is a record that says nothing that can be read. */
function epochsOf(record: Stored<Lease> | undefined): readonly Epoch[] | undefined {
  if (record === undefined) return [];
  try {
    const written: unknown = JSON.parse(record.metadata.annotations?.[epochsAnnotation] ?? "");
    const epochs = Array.isArray(written) ? written.map(epochOf) : [];
    const isInOrder = epochs.every(({ epoch }, i) => epoch > (epochs[i - 1]?.epoch ?? 0) && epoch <= epochMax);
    return isInOrder && epochs.length > 0 ? epochs : undefined;
  } catch {
    return undefined;
  }
}

/** The parsing border: reads what `recordWith` has written; another client may have changed it. */
function epochOf(written: unknown): Epoch {
  const [epoch, members, mark] = Array.isArray(written) ? (written as readonly unknown[]) : [];
  if (typeof epoch !== "number" || !Number.isSafeInteger(epoch) || !Array.isArray(members))
    throw new Error("no epoch of a group");
  return { epoch, members: members.map(memberOf), ...(mark === "unknown" ? { isUnknown: true } : {}) };
}

function memberOf(written: unknown): SlotMember {
  const [name, uid] = Array.isArray(written) ? (written as readonly unknown[]) : [];
  if (typeof name !== "string" || typeof uid !== "string") throw new Error("no member of a group");
  return { name, uid };
}

/** Whether the epochs name other members than those that live. */
export function isMembershipChanged({ epochs, members }: SeenGroup): boolean {
  const known = epochs.at(-1)?.members.map(({ uid }) => uid) ?? [];
  return known.length !== members.length || members.some(({ uid }) => !known.includes(uid));
}

/**
 * Whether one epoch follows on another or is the same. The same number with other members is a forged epoch.
 */
export function isLater(epoch: Epoch | undefined, before: Epoch | undefined): boolean {
  if (before === undefined || epoch === undefined) return before === undefined;
  if (epoch.epoch !== before.epoch) return epoch.epoch > before.epoch;
  return (
    epoch.members.length === before.members.length &&
    epoch.members.every(({ uid }, i) => uid === before.members[i]?.uid)
  );
}

/** The history with a new epoch of the living members, without the epochs that all members have released. */
export function withNextEpoch({ epochs, members }: SeenGroup): readonly Epoch[] {
  const acked = new Map(members.map((member) => [member.uid, member.acked]));
  const isHeld = ({ epoch, members: then }: Epoch): boolean =>
    then.some(({ uid }) => (acked.get(uid) ?? Number.POSITIVE_INFINITY) <= epoch);
  const next = { epoch: (epochs.at(-1)?.epoch ?? 0) + 1, members: members.map(({ name, uid }) => ({ name, uid })) };
  return [...epochs.filter(isHeld), next];
}

/**
 * A history for a group whose record is lost, by a member that knows the epochs up to `known`. Other members
 * may know later epochs. No member starts anything before all living members have released everything.
 */
export function repairedEpochs({ record, members }: SeenGroup, known: number): readonly Epoch[] {
  const said = [known, record?.spec.leaseTransitions ?? 0, ...members.map(({ acked }) => acked)];
  const epoch = Math.max(...said.filter((each) => Number.isSafeInteger(each) && each < epochMax), 0) + repairLeap;
  const living = members.map(({ name, uid }) => ({ name, uid }));
  return [
    { epoch: epoch - 1, members: living, isUnknown: true },
    { epoch, members: living },
  ];
}
