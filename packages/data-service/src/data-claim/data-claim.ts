/** The claim with the data of an instance, for engines whose server runs on one. */
import { type KubeObject, ownerReferenceTo } from "@setpoint/apimachinery";
import type { ReconcileContext, Stored } from "setpoint";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { restoreMarkOf } from "../engine/restore-mark.ts";
import type { DataClaimStatus } from "./data-claim-status.ts";
import { type DataClaimDecision, decideDataClaim, preparedClaimName } from "./decide-data-claim.ts";

/** The decision about the claim, and what is there of it. */
export interface DataClaim extends DataClaimDecision {
  /** Whether there is a claim with data: its size is chosen. */
  readonly exists: boolean;
  /** Why the instance may not run on it: it belongs to another owner. */
  readonly refusal: string | undefined;
  /** The claim of a new instance, complete with its spec. */
  readonly first: PersistentVolumeClaim;
}

/**
 * Which claim the instance runs on now. Its controller owns PersistentVolumeClaims, and does in this order:
 * writes `status`, calls `ensureDataClaim`, and keeps its server running on `runsOn` and nowhere else.
 */
export function observeDataClaim(
  instance: Stored<KubeObject & { readonly status?: DataClaimStatus }>,
  { first, isStopped }: { readonly first: PersistentVolumeClaim; readonly isStopped: boolean },
  context: ReconcileContext,
): DataClaim {
  const exists = (name: string): boolean =>
    context.get(PersistentVolumeClaim, name, instance.metadata.namespace) !== undefined;
  const decision = decideDataClaim({
    mark: restoreMarkOf(instance),
    recorded: instance.status,
    first: first.metadata.name ?? "",
    isStopped,
    exists,
  });
  const claim = decision.status.claim ?? "";
  const refusal = exists(claim) && !isOwned(claim, instance, context) ? takenBy(claim) : undefined;
  return {
    ...decision,
    ...(refusal === undefined ? {} : { runsOn: undefined }),
    unneeded: decision.unneeded.filter((name) => isOwned(name, instance, context)),
    ...{ exists: exists(claim), refusal, first },
  };
}

/**
 * A claim is found by its name. A user who may create instances, and has no right to claims, must not choose
 * any claim of the namespace by the name of an instance.
 */
function isOwned(name: string, { metadata }: Stored<KubeObject>, context: ReconcileContext): boolean {
  const claim = context.get(PersistentVolumeClaim, name, metadata.namespace);
  return claim?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
}

function takenBy(name: string): string {
  return `PersistentVolumeClaim "${name}" belongs to another owner: rename the instance, or delete the claim`;
}

/** Creates the first claim, and deletes those that no restore needs any more. */
export async function ensureDataClaim(
  { runsOn, unneeded, exists, first }: DataClaim,
  context: ReconcileContext,
): Promise<void> {
  if (runsOn === first.metadata.name && !exists) await context.create(first);
  for (const name of unneeded) {
    const claim = context.get(PersistentVolumeClaim, name, first.metadata.namespace);
    if (claim !== undefined && claim.metadata.deletionTimestamp === undefined) await context.delete(claim);
  }
}

/**
 * The claim for the data of a restore, for `DataFolder.claim`: as the first one, and owned by the instance
 * although another controller creates it.
 */
export function preparedClaim(
  instance: Stored<KubeObject>,
  first: PersistentVolumeClaim,
  restoreId: string,
): PersistentVolumeClaim {
  const name = preparedClaimName(first.metadata.name ?? "", restoreId);
  return { ...first, metadata: { ...first.metadata, name, ownerReferences: [ownerReferenceTo(instance)] } };
}
