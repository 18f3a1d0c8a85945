/**
 * The bridge from client-side apply: for the manager `kubectl`, it takes over fields in the last-applied
 * annotation without force, and updates the annotation with each apply.
 */
import {
  decodeJson,
  encodeJson,
  FieldSet,
  isJsonObject,
  type JsonObject,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { rootAtomOf } from "./atom.ts";
import { compareObjects } from "./compare-objects.ts";
import { fieldSetOfAtom } from "./field-set-of.ts";
import { withoutManagedFields } from "./track-update.ts";

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Bytes of all annotations of one object; an annotation that would not fit is dropped instead. */
const annotationsBytesMax = 256 * 1024;

interface Apply {
  readonly schema: StructuralSchema;
  readonly live: UnstructuredObject | undefined;
  readonly patch: UnstructuredObject;
  readonly manager: string;
  readonly apiVersion: string;
}

function lastAppliedOf(object: UnstructuredObject | undefined): string {
  return object?.metadata.annotations?.[lastAppliedAnnotation] ?? "";
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = decodeJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The fields that the annotation records with the value that they still have. */
export function allowedByLastApplied({ schema, live, apiVersion }: Apply): FieldSet {
  const last = parseObject(lastAppliedOf(live));
  if (last === undefined || last["apiVersion"] !== apiVersion) return FieldSet.empty;
  const atom = rootAtomOf(schema);
  const fields = fieldSetOfAtom(atom, last);
  const comparison = compareObjects(atom, last, withoutManagedFields(live));
  if (comparison === undefined) return fields;
  return fields.difference(comparison.written.union(comparison.removed));
}

/** The object with the annotation renewed, when kubectl applies to an object that has one. */
export function withLastApplied({ manager, patch }: Apply, object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (manager !== "kubectl" || !isJsonObject(metadata)) return object;
  const annotations = metadata["annotations"];
  if (!isJsonObject(annotations) || typeof annotations[lastAppliedAnnotation] !== "string") return object;
  if (annotations[lastAppliedAnnotation] === "") return object;
  const { [lastAppliedAnnotation]: _, ...others } = annotations;
  const text = lastAppliedText(patch);
  const size = Object.entries(others).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  const fits = size + lastAppliedAnnotation.length + text.length <= annotationsBytesMax;
  const renewed = fits ? { ...others, [lastAppliedAnnotation]: text } : others;
  return { ...object, metadata: { ...metadata, annotations: renewed } };
}

/**
 * What kubectl would write: the applied object without the annotation itself, as one line of JSON with sorted
 * keys.
 */
function lastAppliedText(patch: UnstructuredObject): string {
  const { annotations, ...metadata } = patch.metadata;
  const { [lastAppliedAnnotation]: _, ...others } = annotations ?? {};
  const rest = Object.keys(others).length === 0 && annotations === undefined ? {} : { annotations: others };
  return `${encodeJson(sorted({ ...patch, metadata: { ...metadata, ...rest } }))}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
