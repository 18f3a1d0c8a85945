/**
 * What the members of a group write for each other, in Leases that carry the group's label: one Lease a member, which says
 * that it lives and up to which epoch it has let go, and one Lease of the group's name, whose history of epochs all agree on
 * because it is only changed by compare-and-swap.
 */
import type { Stored } from "@setpoint/client";
import { Lease } from "../leader/lease.ts";
import type { SlotMember } from "./slots.ts";

export const groupLabel = "setpoint.dev/shards";
/** On a member's Lease: it runs nothing any more that is another's in this epoch. */
export const ackedAnnotation = "setpoint.dev/shard-acked";
/** On the group's Lease: the epochs, the newest last. */
const epochsAnnotation = "setpoint.dev/shard-epochs";

/** Who the members were from one change of the membership to the next. */
export interface Epoch {
  readonly epoch: number;
  readonly members: readonly SlotMember[];
}

/** A member's Lease as seen in a list. */
export interface SeenMember extends SlotMember {
  readonly acked: number;
  readonly lease: Stored<Lease>;
}

/** The group at one revision. */
export interface SeenGroup {
  readonly record: Stored<Lease> | undefined;
  /** The newest last; those before it have members that have not let go yet. Empty when there is no record. */
  readonly epochs: readonly Epoch[];
  readonly members: readonly SeenMember[];
  /** The epochs are remembered, and not in the record: it is gone, or older than what was seen before. */
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
  return { record, epochs: epochsOf(record), members };
}

/** What cannot be read lets go of nothing: the member writes it anew with its next renewal. */
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
  const written = epochs.map(({ epoch, members }) => [epoch, members.map((member) => [member.name, member.uid])]);
  const annotations = { ...base.metadata.annotations, [epochsAnnotation]: JSON.stringify(written) };
  const metadata = { ...base.metadata, labels: { ...base.metadata.labels, [groupLabel]: name }, annotations };
  return { ...base, metadata, spec: { ...base.spec, ...spec } };
}

function epochsOf(record: Stored<Lease> | undefined): readonly Epoch[] {
  const text = record?.metadata.annotations?.[epochsAnnotation];
  if (text === undefined) return [];
  // The parsing border: written by `recordWith` alone.
  const written = JSON.parse(text) as readonly [number, readonly [string, string][]][];
  return written.map(([epoch, members]) => ({ epoch, members: members.map(([name, uid]) => ({ name, uid })) }));
}

/** Whether the epochs name other members than those that live. */
export function isMembershipChanged({ epochs, members }: SeenGroup): boolean {
  const known = epochs.at(-1)?.members.map(({ uid }) => uid) ?? [];
  return known.length !== members.length || members.some(({ uid }) => !known.includes(uid));
}

/** The history with a new epoch of the living members; epochs that all have let go of are left out. */
export function withNextEpoch({ epochs, members }: SeenGroup): readonly Epoch[] {
  const acked = new Map(members.map((member) => [member.uid, member.acked]));
  const isHeld = ({ epoch, members: then }: Epoch): boolean =>
    then.some(({ uid }) => (acked.get(uid) ?? Number.POSITIVE_INFINITY) <= epoch);
  const next = { epoch: (epochs.at(-1)?.epoch ?? 0) + 1, members: members.map(({ name, uid }) => ({ name, uid })) };
  return [...epochs.filter(isHeld), next];
}
