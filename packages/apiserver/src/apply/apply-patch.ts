/**
 * Server-side apply: merges what a manager applies into the live object and records which manager owns
 * what.
 */
import {
  ApiError,
  deepEqual,
  failure,
  FieldSet,
  type JsonObject,
  type ManagedFieldsEntry,
  parseApiVersion,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { applyConflictError, type ApplyConflict } from "./apply-conflict.ts";
import { rootAtomOf } from "./atom.ts";
import { compareObjects } from "./compare-objects.ts";
import { fieldSetOfAtom, neverOwned } from "./field-set-of.ts";
import { allowedByLastApplied, withLastApplied } from "./last-applied.ts";
import { decodeOwnEntries, encodeEntries, isSameManager, type ManagedEntry } from "./managed-entries.ts";
import { mergeObjects } from "./merge-objects.ts";
import { prune } from "./prune.ts";
import { resetFrom, updateEntries, withoutManagedFields } from "./track-update.ts";
import { formatFaults, validateApplied } from "./validate-applied.ts";

/**
 * The manager that gets the fields of an object without managedFields at the first apply.
 */
const beforeFirstApply = "before-first-apply";

export interface ApplyPatchOptions {
  readonly schema: StructuralSchema;
  /** The stored object in the request's version; undefined when there is none yet. */
  readonly live: UnstructuredObject | undefined;
  /** What is applied, with apiVersion, kind and metadata.name. */
  readonly patch: UnstructuredObject;
  readonly manager: string;
  readonly force: boolean;
  readonly apiVersion: string;
  /** The type that the patch must have; absent: any. */
  readonly kind?: string;
  /** "" for the main resource. */
  readonly subresource: string;
  /** Now, RFC 3339 in seconds. */
  readonly time: string;
  /**
   * Fields that this endpoint does not write, so that no manager can own them through it (`status` on the
   * main resource).
   */
  readonly resetFields?: FieldSet | undefined;
  /** The fields, besides apiVersion, kind and metadata, that the result contains; absent: all. */
  readonly only?: readonly string[] | undefined;
}

export interface AppliedObject {
  /** Without managedFields. It may share parts with live, frozen as those are. */
  readonly object: UnstructuredObject;
  readonly managedFields: readonly ManagedFieldsEntry[];
  /** Whether the object (apart from managedFields) differs from live. */
  readonly changed: boolean;
}

/**
 * Applies a configuration. The caller runs defaulting and validation on the result and stores it with these
 * managedFields.
 *
 * Guarantees: applying the same again changes nothing. Neither live nor the patch is changed.
 * Errors: `ApiError` 400 for a wrong version or kind or managedFields in the patch, 500 with an empty reason
 * when the patch does not fit the schema (as upstream), 409 with one cause a field when other managers own
 * what would change.
 */
export function applyPatch(options: ApplyPatchOptions): AppliedObject {
  checkPatch(options);
  try {
    return applyWithOwners(options, options.force);
  } catch (error) {
    if (options.manager !== "kubectl" || !(error instanceof ConflictsFound)) throw toApiError(error);
    return applyOverLastApplied(options, error);
  }
}

/** Conflicts on the way out of the algorithm, while they may still turn out to be allowed. */
class ConflictsFound extends Error {
  readonly conflicts: readonly ApplyConflict[];

  constructor(conflicts: readonly ApplyConflict[]) {
    super("apply conflicts");
    this.conflicts = conflicts;
  }
}

function toApiError(error: unknown): unknown {
  if (error instanceof ConflictsFound) return applyConflictError(error.conflicts);
  return error;
}

/**
 * For clients that move from client-side apply: they take over the fields of their annotation without force.
 */
function applyOverLastApplied(options: ApplyPatchOptions, found: ConflictsFound): AppliedObject {
  const allowed = allowedByLastApplied(options);
  const conflicts = found.conflicts.filter((conflict) => !allowed.has(conflict.path));
  if (allowed.isEmpty || conflicts.length > 0) throw applyConflictError(conflicts);
  return applyWithOwners(options, true);
}

function plainError(message: string): ApiError {
  return new ApiError(failure(500, "", message));
}

/** Both may be missing despite the type: the patch is a client's body. */
function gvkText({ apiVersion, kind }: Partial<UnstructuredObject>): string {
  const { group, version } = parseApiVersion(typeof apiVersion === "string" ? apiVersion : "");
  return `${group}/${version}, Kind=${typeof kind === "string" ? kind : ""}`;
}

/** An object as upstream names it in errors of apply: namespace, name and type, as far as it has them. */
export function describeObject(object: UnstructuredObject): string {
  const { namespace = "", name = "" } = object.metadata;
  return `${namespace}/${name}; ${gvkText(object)}`;
}

function checkPatch({ schema, patch, apiVersion, kind = patch.kind }: ApplyPatchOptions): void {
  if (patch.apiVersion !== apiVersion || patch.kind !== kind) {
    throw new ApiError(failure(400, "BadRequest", `invalid object type: ${gvkText(patch)}`));
  }
  if (patch.metadata.managedFields !== undefined && patch.metadata.managedFields !== null) {
    throw new ApiError(failure(400, "BadRequest", "metadata.managedFields must be nil"));
  }
  const faults = validateApplied(rootAtomOf(schema), patch);
  if (faults.length === 0) return;
  throw plainError(`failed to create typed patch object (${describeObject(patch)}): ${formatFaults(faults)}`);
}

function applyWithOwners(options: ApplyPatchOptions, force: boolean): AppliedObject {
  const { schema, patch, resetFields, only } = options;
  const atom = rootAtomOf(schema);
  // Live keeps its managedFields: no manager applies or owns them, so they go through untouched, and are left
  // out at the end.
  const live: JsonObject = options.live ?? {};
  const entries = entriesBefore(options);
  const self = selfOf(options);
  const last = entries.find((entry) => isSameManager(entry, self));
  const others = entries.filter((entry) => entry !== last);
  const config = withoutManagedFields(patch);
  const named = fieldSetOfAtom(atom, config);
  const whole = named.difference(neverOwned);
  const applied = resetFields === undefined ? whole : whole.recursiveDifference(resetFields);
  const merged = mergeObjects(atom, live, config);
  const owners = others.map(({ fields }) => fields);
  const wanted =
    last === undefined ? merged : prune(atom, merged, { last: last.fields, applied: named, others: owners });

  const changed = !deepEqual(live, wanted);
  const kept = changed ? takeFromOthers(options, { live, wanted, others, force }) : others;
  const own = { ...self, time: changed ? options.time : last?.time, fields: applied };
  const isSame = !changed && last !== undefined && last.fields.equals(applied) && last.apiVersion === self.apiVersion;
  const next = applied.isEmpty ? kept : [...kept, isSame ? last : own];
  // The merge of objects with apiVersion, kind and metadata has them too.
  const object = partOf(withLastApplied(options, wanted) as UnstructuredObject & JsonObject, only);
  return { object, managedFields: encodeEntries(next), changed };
}

function partOf(object: UnstructuredObject & JsonObject, only: readonly string[] | undefined): UnstructuredObject {
  const { apiVersion, kind } = object;
  const { managedFields: _, ...metadata } = object.metadata;
  if (only === undefined) return { ...object, metadata };
  const fields = only.filter((field) => object[field] !== undefined).map((field) => [field, object[field]]);
  return { apiVersion, kind, metadata, ...Object.fromEntries(fields) };
}

function selfOf({ manager, apiVersion, subresource }: ApplyPatchOptions): Omit<ManagedEntry, "time" | "fields"> {
  return { manager: manager === "" ? "unknown" : manager, operation: "Apply", apiVersion, subresource };
}

/** The owners before the apply; an object without owners belongs to `before-first-apply`. */
function entriesBefore(options: ApplyPatchOptions): readonly ManagedEntry[] {
  const { live } = options;
  const entries = decodeOwnEntries(live?.metadata.managedFields);
  if (entries.length > 0 || live === undefined) return entries;
  return updateEntries({ ...options, live: undefined, object: live, manager: beforeFirstApply }, []);
}

interface Takeover {
  readonly live: JsonObject;
  readonly wanted: JsonObject;
  readonly others: readonly ManagedEntry[];
  readonly force: boolean;
}

/**
 * The other managers without what the apply changes or removes; without force their owning a changed field is
 * a conflict.
 */
function takeFromOthers(
  options: ApplyPatchOptions,
  { live, wanted, others, force }: Takeover,
): readonly ManagedEntry[] {
  if (others.length === 0) return others;
  const compared = compareObjects(rootAtomOf(options.schema), live, wanted);
  const comparison = resetFrom(compared, options.resetFields);
  if (comparison === undefined) return others;
  const { written, removed } = comparison;
  if (!force) {
    const conflicts = [...others].sort(byManager).flatMap((entry) => conflictsWith(entry, written));
    if (conflicts.length > 0) throw new ConflictsFound(conflicts);
  }
  const taken = written.union(removed);
  return others
    .map((entry) => ({ ...entry, fields: entry.fields.difference(taken) }))
    .filter((entry) => !entry.fields.isEmpty);
}

function byManager(a: ManagedEntry, b: ManagedEntry): number {
  return a.manager < b.manager ? -1 : a.manager > b.manager ? 1 : 0;
}

function conflictsWith(entry: ManagedEntry, written: FieldSet): readonly ApplyConflict[] {
  return entry.fields
    .intersection(written)
    .paths()
    .map((path) => ({ entry, path }));
}
