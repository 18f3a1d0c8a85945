/**
 * Ownership through the scale subresource. A Scale has only `.spec.replicas`, which is some field of its
 * parent; entries are carried over to the Scale, tracked there, and carried back.
 */
import { type FieldPathElement, FieldSet, fieldElement, type ManagedFieldsEntry } from "@setpoint/apimachinery";
import { decodeOwnEntries, encodeEntries, isSameManager, type ManagedEntry } from "./managed-entries.ts";

const scaleVersion = "autoscaling/v1";
const replicasOfScale: readonly FieldPathElement[] = [fieldElement("spec"), fieldElement("replicas")];

/** The elements of a path as a CRD writes it: `.spec.replicas`. */
export function pathElements(jsonPath: string): readonly FieldPathElement[] {
  return jsonPath
    .split(".")
    .filter((name) => name !== "")
    .map(fieldElement);
}

/**
 * The managedFields of a parent as its Scale shows them: the managers of the replicas, in the version of
 * Scale.
 */
export function scaleEntriesOf(
  parent: readonly ManagedFieldsEntry[] | undefined,
  specReplicasPath: string,
): readonly ManagedFieldsEntry[] {
  const path = pathElements(specReplicasPath);
  const owners = decodeOwnEntries(parent).filter((entry) => entry.fields.has(path));
  const fields = FieldSet.of(replicasOfScale);
  return encodeEntries(owners.map((entry) => ({ ...entry, apiVersion: scaleVersion, fields })));
}

export interface ScaleToParent {
  readonly parent: readonly ManagedFieldsEntry[] | undefined;
  /** The Scale's managedFields after the write. */
  readonly scale: readonly ManagedFieldsEntry[];
  readonly specReplicasPath: string;
  /** The parent's version. */
  readonly apiVersion: string;
}

/**
 * The parent's managedFields after a write to its Scale: a manager that lost the replicas there loses them
 * here.
 */
export function parentEntriesAfterScale(options: ScaleToParent): readonly ManagedFieldsEntry[] {
  const path = pathElements(options.specReplicasPath);
  const replicas = FieldSet.of(path);
  const remaining = new Set(decodeOwnEntries(options.scale).filter((entry) => entry.fields.has(replicasOfScale)));
  const result: ManagedEntry[] = [];
  for (const entry of decodeOwnEntries(options.parent)) {
    const same = [...remaining].find((each) => isSameManager({ ...each, apiVersion: entry.apiVersion }, entry));
    const isOwner = entry.fields.has(path);
    if (same !== undefined && isOwner) remaining.delete(same);
    const kept = isOwner && same === undefined ? { ...entry, fields: entry.fields.difference(replicas) } : entry;
    if (!kept.fields.isEmpty) result.push(kept);
  }
  for (const entry of remaining) {
    // Upstream loses the time here, since it looks for it among the parent's entries.
    result.push({ ...entry, apiVersion: options.apiVersion, time: undefined, fields: replicas });
  }
  return encodeEntries(result);
}
