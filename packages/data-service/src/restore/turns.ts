/** Restores into one instance take turns; one that cannot begin has no turn. Pure. */
import type { Stored } from "setpoint";
import type { Restore } from "../kinds/restore.ts";
import { hasBegun, isRestoreFinished, isTouching, targetName } from "./restore-phase.ts";

/** The Restore that goes first; undefined when it is this one's turn. */
export function restoreAhead(restore: Stored<Restore>, all: readonly Stored<Restore>[]): Stored<Restore> | undefined {
  if (isTouching(restore)) return undefined;
  const others = all.filter((each) => isInSameInstance(each, restore));
  const isOlder = (each: Stored<Restore>): boolean => rank(each) < rank(restore);
  // A late view may let two begin; before one of them touches the instance, the older one goes first.
  const begun = others.filter(hasBegun);
  const first = others.find(isTouching);
  if (first !== undefined || hasBegun(restore)) return first ?? begun.find(isOlder);
  return begun[0] ?? others.find((each) => isOlder(each) && canGoOn(each));
}

function isInSameInstance(each: Stored<Restore>, restore: Stored<Restore>): boolean {
  const isOther = each.metadata.uid !== restore.metadata.uid && !isRestoreFinished(each);
  return isOther && targetName(each) === targetName(restore);
}

function canGoOn({ metadata, status }: Stored<Restore>): boolean {
  return metadata.deletionTimestamp === undefined && status?.waitingFor === undefined;
}

/** The oldest first, and by name those of the same second. */
function rank({ metadata }: Stored<Restore>): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}
