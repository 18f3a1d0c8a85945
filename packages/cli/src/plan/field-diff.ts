/** What is different between two states of an object, a line for each field. */
import { deepEqual, isJsonObject } from "@setpoint/apimachinery";
import { appliedAnnotation } from "setpoint/install";

export interface FieldChange {
  /** `spec.template.spec.containers[web].image`. */
  readonly path: string;
  /** Absent: the field is new. */
  readonly before?: unknown;
  /** Absent: the field is gone. */
  readonly after?: unknown;
}

/** Fields that the server and the runtime fill in and nobody decides about, and those that the title says. */
const bookkeeping: ReadonlySet<string> = new Set([
  "apiVersion",
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.resourceVersion",
  "metadata.managedFields",
  "metadata.generation",
  "metadata.uid",
  "metadata.creationTimestamp",
  "metadata.selfLink",
  `metadata.annotations."${appliedAnnotation}"`,
]);

/**
 * The fields that differ, in the order of the object; items of lists are matched by their name where they
 * have one.
 */
export function fieldDiff(before: unknown, after: unknown): readonly FieldChange[] {
  return [...changes(before, after, "")];
}

function* changes(before: unknown, after: unknown, path: string): Generator<FieldChange> {
  if (bookkeeping.has(path) || deepEqual(before, after)) return;
  if (isJsonObject(before) || isJsonObject(after)) {
    if (isWhole(before) && isWhole(after)) return yield* changesOfObject(asRecord(before), asRecord(after), path);
  } else if (isNamedList(before) && isNamedList(after)) {
    return yield* changesOfObject(byName(before), byName(after), path);
  }
  yield { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function* changesOfObject(before: Fields, after: Fields, path: string): Generator<FieldChange> {
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    yield* changes(before.get(key), after.get(key), pathOf(path, key));
  }
}

type Fields = ReadonlyMap<string, unknown>;

/** Whether it can be shown field by field: an object with fields, or nothing beside one. */
function isWhole(value: unknown): boolean {
  return value === undefined || (isJsonObject(value) && Object.keys(value).length > 0);
}

function asRecord(value: unknown): Fields {
  return new Map(isJsonObject(value) ? Object.entries(value) : []);
}

/** A list whose items have names, or nothing. */
function isNamedList(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.length > 0 && value.every((item) => nameOf(item) !== undefined);
}

function byName(value: unknown): Fields {
  return new Map(Array.isArray(value) ? value.map((item) => [`[${nameOf(item)}]`, item]) : []);
}

function nameOf(item: unknown): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const name = item["name"] ?? item["type"] ?? item["uid"];
  return typeof name === "string" ? name : undefined;
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Whether the differences are only times of the status that move on, such as that of the last check. */
export function changesOnlyTimes(changes: readonly FieldChange[]): boolean {
  const isTime = (value: unknown): boolean => typeof value === "string" && time.test(value);
  return changes.every(({ path, before, after }) => path.startsWith("status.") && isTime(before) && isTime(after));
}

/** Keys with dots in them, as labels have, are quoted. */
function pathOf(path: string, key: string): string {
  if (key.startsWith("[")) return `${path}${key}`;
  const shown = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
  return path === "" ? shown : `${path}.${shown}`;
}
