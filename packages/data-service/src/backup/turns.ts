/**
 * Backups of one instance take turns, so that it gives one snapshot at a time. One that cannot begin has no
 * turn: the others go first. Pure.
 */
import type { Stored } from "setpoint";
import type { Backup } from "../kinds/backup.ts";
import { hasBegun, isFinished } from "./backup-phase.ts";

/** The Backup that goes first; undefined when it is this one's turn. */
export function backupAhead(backup: Stored<Backup>, all: readonly Stored<Backup>[]): Stored<Backup> | undefined {
  const others = all.filter((each) => isOfSameInstance(each, backup) && canGoOn(each));
  const isAhead = (each: Stored<Backup>): boolean => rank(each) < rank(backup);
  // One that has begun waits only for older ones that have begun too, so that no two wait for each other.
  const begun = others.filter(hasBegun);
  return hasBegun(backup) ? begun.find(isAhead) : (begun[0] ?? others.find(isAhead));
}

/** An instance that no operator runs is another one than that of the same name. */
function isOfSameInstance(each: Stored<Backup>, backup: Stored<Backup>): boolean {
  return (
    each.metadata.uid !== backup.metadata.uid &&
    each.spec.instance.name === backup.spec.instance.name &&
    (each.spec.external === undefined) === (backup.spec.external === undefined)
  );
}

function canGoOn(backup: Stored<Backup>): boolean {
  const { metadata, status } = backup;
  return !isFinished(backup) && metadata.deletionTimestamp === undefined && status?.waitingFor === undefined;
}

/** The oldest first, and by name those of the same second. */
function rank({ metadata }: Stored<Backup>): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}
