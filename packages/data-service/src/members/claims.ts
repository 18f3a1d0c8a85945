/** Claims of members: kept or deleted with their instance, and how large they are; pure. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type PersistentVolumeClaim,
  quantityValue,
} from "setpoint/kinds";

/** What becomes of claims when their instance is deleted. */
export type DeletionPolicy = "Delete" | "Retain";

/** The value of the label that marks a claim to be kept. */
export const retain = "Retain";

/** Whether a client may not delete the claim before its mark is taken off. */
export function isClaimRetained({ metadata }: PersistentVolumeClaim, label: string): boolean {
  return metadata.labels?.[label] === retain;
}

/**
 * Whether a claim would be kept or deleted with its instance against the policy. The garbage collector takes
 * a claim with its owner, the instance; nothing deletes one with the mark.
 */
export function isMisowned(
  claim: PersistentVolumeClaim | undefined,
  { uid, policy, label }: { readonly uid: string | undefined; readonly policy: DeletionPolicy; readonly label: string },
): boolean {
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return false;
  const isOwned = claim.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
  return isOwned !== (policy === "Delete") || isClaimRetained(claim, label) !== (policy === "Retain");
}

/** Whether less was asked for than is wanted; the volume follows when its class and its node allow it. */
export function isClaimSmall(claim: PersistentVolumeClaim | undefined, wanted: string | undefined): boolean {
  const asked = askedStorage(claim);
  if (wanted === undefined || asked === undefined || claim?.metadata.deletionTimestamp !== undefined) return false;
  return compareQuantities(parseQuantity(wanted), parseQuantity(asked)) > 0;
}

/** How a volume grows by itself. */
export interface VolumeGrowth {
  readonly whenUsedPercent: number;
  readonly step: string;
  readonly max: string;
}

/** A claim that the data fill, and the size that it grows to; without `to` it may not grow any more. */
export interface DueGrowth {
  readonly percent: number;
  readonly asked: string;
  readonly to?: string;
}

/** Undefined when the data do not fill the claim. */
export function dueGrowth(
  claim: PersistentVolumeClaim | undefined,
  usedBytes: number | undefined,
  growth: VolumeGrowth | undefined,
): DueGrowth | undefined {
  const asked = askedStorage(claim);
  if (growth === undefined || asked === undefined || usedBytes === undefined) return undefined;
  if (claim?.metadata.deletionTimestamp !== undefined) return undefined;
  const present = parseQuantity(asked);
  const percent = Math.floor((100 * usedBytes) / Number(quantityValue(present)));
  if (percent < growth.whenUsedPercent) return undefined;
  const [max, next] = [parseQuantity(growth.max), addQuantities(present, parseQuantity(growth.step))];
  const target = compareQuantities(next, max) > 0 ? max : next;
  return compareQuantities(target, present) <= 0 ? { percent, asked } : { percent, asked, to: formatQuantity(target) };
}

function askedStorage(claim: PersistentVolumeClaim | undefined): string | undefined {
  const asked = claim?.spec?.resources?.requests?.["storage"];
  return asked === undefined ? undefined : String(asked);
}
