/** Field ownership of creates, updates and patches (everything that is not an apply). */
import { type FieldSet, type ManagedFieldsEntry, type UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { rootAtomOf } from "./atom.ts";
import { type Comparison, compareObjects } from "./compare-objects.ts";
import {
  capUpdateEntries,
  decodeForeignEntries,
  decodeOwnEntries,
  encodeEntries,
  isReset,
  isSameManager,
  type ManagedEntry,
} from "./managed-entries.ts";
import { neverOwned } from "./field-set-of.ts";
import { TypedError } from "./typed-error.ts";

export interface TrackUpdateOptions {
  readonly schema: StructuralSchema;
  /** The stored object in the request's version; undefined when the request creates it. */
  readonly live: UnstructuredObject | undefined;
  /** The object to be stored; its `metadata.managedFields` is still the request's. */
  readonly object: UnstructuredObject;
  /** The fieldManager of the request; "" becomes `unknown`. */
  readonly manager: string;
  readonly apiVersion: string;
  /** "" for the main resource. */
  readonly subresource: string;
  /** Now, RFC 3339 in seconds. */
  readonly time: string;
  /**
   * Fields that this endpoint does not write, so that no manager can own them through it (`status` on the
   * main resource).
   */
  readonly resetFields?: FieldSet | undefined;
}

/**
 * The managedFields of the object to be stored: fields added or changed belong to `manager`, and to nobody
 * else any more.
 *
 * Guarantees: changes neither object. The result may share parts with live's.
 * Caveats: entries of another version than `apiVersion` are compared as if their fields had the same paths.
 */
export function trackUpdate(options: TrackUpdateOptions): readonly ManagedFieldsEntry[] {
  const { live, object } = options;
  const liveFields = live?.metadata.managedFields ?? [];
  const asked = options.subresource === "" ? requestedEntries(object.metadata.managedFields) : undefined;
  if (live === undefined) return encodeEntries(changed(options, asked ?? []));
  // An object without managers stays without: a client stopped the tracking by clearing managedFields.
  if (asked === undefined && liveFields.length === 0) return liveFields;
  const before = asked ?? decodeOwnEntries(liveFields);
  return before.length === 0 ? [] : encodeEntries(changed(options, before));
}

/** The entries that a request sets itself; undefined when live's are kept. */
function requestedEntries(sent: unknown): readonly ManagedEntry[] | undefined {
  if (isReset(sent)) return [];
  const entries = decodeForeignEntries(sent);
  return entries === undefined || entries.length === 0 ? undefined : entries;
}

function changed(options: TrackUpdateOptions, entries: readonly ManagedEntry[]): readonly ManagedEntry[] {
  try {
    return capUpdateEntries(updateEntries(options, entries));
  } catch (error) {
    // Upstream drops all ownership of an object that cannot be walked (list items without a key) rather than
    // refuse it.
    if (error instanceof TypedError) return [];
    throw error;
  }
}

/** Entries after the change from `live` to `object`. */
export function updateEntries(options: TrackUpdateOptions, entries: readonly ManagedEntry[]): readonly ManagedEntry[] {
  const atom = rootAtomOf(options.schema);
  const { live, object, resetFields } = options;
  const comparison = resetFrom(
    compareObjects(atom, withoutManagedFields(live), withoutManagedFields(object)),
    resetFields,
  );
  if (comparison === undefined) return entries;
  const { written, removed } = comparison;
  const taken = written.union(removed);
  const own = written.difference(neverOwned);
  const self = identityOf(options);
  const result: ManagedEntry[] = [];
  let isMerged = own.isEmpty;
  for (const entry of entries) {
    const isSelf = !own.isEmpty && isSameManager(entry, self);
    const kept = entry.fields.difference(isSelf ? removed : taken);
    const next = isSelf ? { ...entry, fields: kept.union(own), time: options.time } : { ...entry, fields: kept };
    isMerged ||= isSelf;
    if (!next.fields.isEmpty) result.push(next);
  }
  if (!isMerged) result.push({ ...self, time: options.time, fields: own });
  return result;
}

function identityOf({ manager, apiVersion, subresource }: TrackUpdateOptions): Omit<ManagedEntry, "time" | "fields"> {
  return { manager: manager === "" ? "unknown" : manager, operation: "Update", apiVersion, subresource };
}

/** What of a comparison counts at an endpoint that leaves `resetFields` as they are. */
export function resetFrom(
  comparison: Comparison | undefined,
  resetFields: FieldSet | undefined,
): Comparison | undefined {
  if (comparison === undefined || resetFields === undefined) return comparison;
  return {
    written: comparison.written.recursiveDifference(resetFields),
    removed: comparison.removed.recursiveDifference(resetFields),
  };
}

/** The object for comparing; managedFields do not own themselves. */
export function withoutManagedFields(object: UnstructuredObject | undefined): { readonly [field: string]: unknown } {
  if (object === undefined) return {};
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
