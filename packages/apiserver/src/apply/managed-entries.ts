/**
 * managedFields as the algorithms of server-side apply see it: a list of managers, each with its set of
 * fields.
 */
import { FieldSet, isJsonObject, type ManagedFieldsEntry } from "@setpoint/apimachinery";

export interface ManagedEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** Absent for an apply that changed nothing in the object. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/**
 * Managers by Update in one object; more are merged into `ancient-changes`, so that objects do not grow for
 * ever.
 */
export const updateManagersMax = 10;
const ancientManager = "ancient-changes";

/** Reads entries that this server wrote: the trees are used as they are. */
export function decodeOwnEntries(managedFields: unknown): readonly ManagedEntry[] {
  return decode(managedFields, (json) => FieldSet.ofTree(json)) ?? [];
}

/** Reads entries that a client wrote; undefined when one of them is not valid. */
export function decodeForeignEntries(managedFields: unknown): readonly ManagedEntry[] | undefined {
  return decode(managedFields, (json) => FieldSet.fromJson(json));
}

type ReadFields = (json: ReturnType<FieldSet["toJson"]>) => FieldSet | undefined;

function decode(managedFields: unknown, readFields: ReadFields): readonly ManagedEntry[] | undefined {
  if (!Array.isArray(managedFields)) return [];
  const entries: ManagedEntry[] = [];
  for (const wire of managedFields as readonly ManagedFieldsEntry[]) {
    const { operation, apiVersion, fieldsType } = wire;
    if (operation !== "Apply" && operation !== "Update") return undefined;
    if (apiVersion === undefined || apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
    // FieldsV1 is a tree of objects by definition; foreign ones are checked by `readFields`.
    const fields = readFields((wire.fieldsV1 ?? {}) as ReturnType<FieldSet["toJson"]>);
    if (fields === undefined) return undefined;
    const { manager = "", subresource = "", time } = wire;
    entries.push({ manager, operation, apiVersion, subresource, time, fields });
  }
  return entries;
}

/** Whether a request's managedFields reset the owners: `[]` or `[{}]`. */
export function isReset(managedFields: unknown): boolean {
  if (!Array.isArray(managedFields) || managedFields.length > 1) return false;
  const [only] = managedFields;
  return only === undefined || (isJsonObject(only) && Object.keys(only).length === 0);
}

type Identity = Pick<ManagedEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/** Whether two entries are of the same manager; appliers are the same manager in every version. */
export function isSameManager(a: Identity, b: Identity): boolean {
  if (a.manager !== b.manager || a.operation !== b.operation || a.subresource !== b.subresource) return false;
  return a.operation === "Apply" || a.apiVersion === b.apiVersion;
}

function encode(entry: ManagedEntry): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, fields, subresource } = entry;
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: fields.toJson(),
    ...(subresource === "" ? {} : { subresource }),
  };
}

/**
 * Entries in the wire form and in the order of upstream: Apply first, then by time, manager, version,
 * subresource.
 */
export function encodeEntries(entries: readonly ManagedEntry[]): readonly ManagedFieldsEntry[] {
  return [...entries].sort(compareEntries).map(encode);
}

function compareEntries(a: ManagedEntry, b: ManagedEntry): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? "", b.time ?? "") ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Merges the oldest Update entries of each version into `ancient-changes` until at most `updateManagersMax`
 * are left.
 */
export function capUpdateEntries(entries: readonly ManagedEntry[]): readonly ManagedEntry[] {
  const updates = entries.filter((entry) => entry.operation === "Update");
  let surplus = updates.length - updateManagersMax;
  if (surplus <= 0) return entries;
  const oldest = new Map<string, ManagedEntry[]>();
  for (const entry of updates.sort(compareEntries)) {
    if (surplus <= 0) break;
    const sameVersion = oldest.get(entry.apiVersion);
    if (sameVersion === undefined) {
      oldest.set(entry.apiVersion, [entry]);
      continue;
    }
    sameVersion.push(entry);
    surplus--;
  }
  const merged = [...oldest.values()].filter(({ length }) => length > 1);
  const gone = new Set(merged.flat());
  return [...entries.filter((entry) => !gone.has(entry)), ...merged.map(ancientEntry)];
}

/** As old as the newest of those that are merged. */
function ancientEntry(merged: readonly ManagedEntry[]): ManagedEntry {
  const { operation, apiVersion, time } = merged.at(-1) ?? { operation: "Update", apiVersion: "", time: undefined };
  const fields = unionOf(merged.map((entry) => entry.fields));
  return { manager: ancientManager, operation, apiVersion, subresource: "", time, fields };
}

/**
 * In halves: one after the other, the growing union would be walked for each of the entries that a client has
 * sent.
 */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [only] = sets;
  if (only !== undefined && sets.length === 1) return only;
  if (only === undefined) return FieldSet.ofTree({});
  const half = sets.length >> 1;
  return unionOf(sets.slice(0, half)).union(unionOf(sets.slice(half)));
}
