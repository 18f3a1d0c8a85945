/**
 * Decides which claim the server of an instance runs on, through every step of a restore in place; pure. It
 * answers what the marks of a Restore ask for, so that an engine with one claim need not know them.
 */
import type { RestoreMark } from "../engine/restore-mark.ts";
import type { DataClaimStatus } from "./data-claim-status.ts";

/** Everything that decides about the claim. */
export interface SeenDataClaim {
  /** What the Restore asks for. */
  readonly mark: RestoreMark | undefined;
  /** What the status recorded before. */
  readonly recorded: DataClaimStatus | undefined;
  /** The name of the claim of a new instance. */
  readonly first: string;
  /** Whether no server runs. */
  readonly isStopped: boolean;
  /** Whether there is a claim of this name. */
  readonly exists: (claim: string) => boolean;
}

/** The claim to run on, and what to record before anything starts there. */
export interface DataClaimDecision {
  readonly status: DataClaimStatus;
  /** The claim that the server runs on; undefined while a restore keeps it stopped. */
  readonly runsOn: string | undefined;
  /** Claims from before a restore that may be deleted. */
  readonly unneeded: readonly string[];
}

/** Call it in every reconcile; without a Restore it decides on the claim that the status records. */
export function decideDataClaim(seen: SeenDataClaim): DataClaimDecision {
  const { mark, isStopped } = seen;
  const status = recordedClaims(seen);
  if (mark?.state === "waiting" || mark?.state === "stop")
    return { status: isStopped ? { ...status, stoppedFor: mark.id } : status, runsOn: undefined, unneeded: [] };
  return { status, runsOn: status.claim, unneeded: mark?.state === "done" ? (status.previousClaims ?? []) : [] };
}

/** The name of the claim with the data of a restore. */
export function preparedClaimName(first: string, restoreId: string): string {
  return `${first}-${restoreId}`;
}

function recordedClaims({ mark, recorded, first, exists }: SeenDataClaim): DataClaimStatus {
  const { claim = first, previousClaims = [], restored } = recorded ?? {};
  const isPrepared = mark !== undefined && claim === preparedClaimName(first, mark.id);
  switch (mark?.state) {
    // The data are still being prepared.
    case "waiting":
      return {};
    case "start":
      return isPrepared ? { claim, previousClaims, restored } : startOn(mark.id, first, recorded);
    case "back":
      return isPrepared
        ? { claim: previousClaims.at(-1) ?? first, previousClaims: previousClaims.slice(0, -1) }
        : { claim, previousClaims, restored };
    case "done":
      return { claim, previousClaims: previousClaims.filter(exists), restored };
    default:
      return { claim, previousClaims, restored };
  }
}

/** An instance that has never run has no claim to keep. */
function startOn(restoreId: string, first: string, recorded: DataClaimStatus | undefined): DataClaimStatus {
  const { claim: before, previousClaims = [] } = recorded ?? {};
  return {
    claim: preparedClaimName(first, restoreId),
    previousClaims: before === undefined ? previousClaims : [...previousClaims, before],
    restored: restoreId,
  };
}
