/**
 * Decodes a request's body into an object of a definition: reports unknown fields, fills defaults. It makes
 * the write's only copy.
 */
import { duplicateField } from "../request/duplicate-fields.ts";
import { apiVersionOf, isJsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import { applyDefaults, decode, type Decoded, isDecodeError, type StructuralSchema } from "@setpoint/schema";
import { badRequest } from "../response/api-errors.ts";
import { checkKind } from "./check-kind.ts";
import type { Warnings } from "../response/warnings.ts";
import { invalidPatch, type PatchSubject } from "./invalid-patch.ts";
import type { MutableMeta, MutableObject } from "./mutable-object.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import type { FieldValidation } from "../request/write-options.ts";

export interface DecodeSettings {
  readonly fieldValidation: FieldValidation;
  readonly warnings: Warnings;
  /** Found while the text was parsed: `duplicate field "spec.x"`. */
  readonly duplicates?: readonly string[];
  /** The paths of keys in the order of the text, when some stood twice in it. */
  readonly keys?: readonly string[];
  /** For the result of a patch, whose errors are a 422 of the patch. */
  readonly patch?: PatchSubject;
}

/** Decodes a request's object; the result is the registry's own copy, mutable until it is stored. */
export function decodeObject(definition: ResourceDefinition, body: unknown, settings: DecodeSettings): MutableObject {
  const typed = withType(definition, body);
  checkKind(definition, typed, settings.patch !== undefined);
  const { fieldValidation } = settings;
  const decoded = decodeValue(definition, typed, fieldValidation === "Ignore" ? "prune" : "report", settings);
  reportProblems(definition, ordered(definition, decoded.unknownFields), settings);
  // The schema of every kind requires an object; apiVersion and kind were checked above.
  const object = decoded.value as MutableObject;
  object.metadata ??= {};
  if (definition.custom) dropEmptyMetadata(object.metadata);
  fillDefaults(definition, object);
  // Defaults of built-in kinds leave out what is empty.
  if (!definition.custom && asksForNoManagers(typed)) object.metadata.managedFields = [];
  return object;
}

const metadataParts = ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"] as const;

/**
 * ObjectMeta has the same form in all objects: what holds nothing is absent. Built-in kinds are decoded so.
 */
function dropEmptyMetadata(metadata: MutableMeta): void {
  for (const part of metadataParts) {
    const value: unknown = metadata[part];
    if (typeof value === "object" && value !== null && Object.keys(value).length === 0) delete metadata[part];
  }
}

/** An empty list of managers is a wish, not nothing. */
function asksForNoManagers({ metadata }: UnstructuredObject): boolean {
  const managers: unknown = isJsonObject(metadata) ? metadata.managedFields : undefined;
  return Array.isArray(managers) && managers.length === 0;
}

/** The objects of one body: a write that starts again needs an unchanged copy. */
export interface DecodedObjects {
  /** For checks; the first one that is taken. */
  readonly first: MutableObject;
  take(this: void): MutableObject;
}

/** Decodes now; later ones are only decoded when they are taken. */
export function decodeObjects(definition: ResourceDefinition, body: unknown, settings: DecodeSettings): DecodedObjects {
  const first = decodeObject(definition, body, settings);
  let unused: MutableObject | undefined = first;
  const take = (): MutableObject => {
    const taken = unused ?? decodeObject(definition, body, settings);
    unused = undefined;
    return taken;
  };
  return { first, take };
}

/** Prunes and defaults an object that was stored under an earlier schema of its kind. */
export function refreshObject(definition: ResourceDefinition, stored: UnstructuredObject): MutableObject {
  return fillDefaults(definition, pruneObject(definition.schema, stored));
}

/** A copy without what the schema does not know. */
export function pruneObject(schema: StructuralSchema, object: UnstructuredObject): MutableObject {
  const { value } = decode(schema, object, { unknown: "prune", wrongTypes: "keep" });
  // The schema of every kind requires an object.
  return value as MutableObject;
}

/** Fills defaults in place: those of the schema, then those that only the kind knows. */
export function fillDefaults(definition: ResourceDefinition, object: MutableObject): MutableObject {
  applyDefaults(definition.schema, object);
  definition.strategy.setDefaults?.(object);
  return object;
}

/**
 * A body without a type has the type of the URL; only custom objects must have apiVersion and kind.
 */
function withType(definition: ResourceDefinition, given: unknown): unknown {
  const body = given ?? (definition.custom ? given : {});
  if (definition.custom || !isJsonObject(body) || (body["kind"] && body["apiVersion"])) return body;
  const kind = body["kind"] || definition.kind;
  return { ...body, apiVersion: body["apiVersion"] || apiVersionOf(definition), kind };
}

function decodeValue(
  definition: ResourceDefinition,
  body: unknown,
  unknown: "prune" | "report",
  settings: DecodeSettings,
): Decoded {
  try {
    return decode(definition.schema, body, { unknown, wrongTypes: definition.custom ? "keep" : "throw" });
  } catch (error) {
    if (!isDecodeError(error)) throw error;
    throw refusal(definition, settings, definition.describeMisfit?.(error) ?? error.message);
  }
}

/** Upstream prunes custom objects after it has read their metadata, and sorts what it has pruned. */
function ordered({ custom }: ResourceDefinition, fields: readonly string[]): readonly string[] {
  if (!custom) return fields;
  const [metadata = [], others = []] = [true, false].map((isMetadata) =>
    fields.filter((field) => field.startsWith("metadata.") === isMetadata),
  );
  return [...metadata, ...others.toSorted()];
}

/** Upstream reads the text of built-in kinds once, so what it finds stands in the order of the text. */
function problemsOf(
  { custom }: ResourceDefinition,
  unknown: readonly string[],
  { duplicates = [], keys = [] }: DecodeSettings,
): readonly string[] {
  const unknownFields = unknown.map(unknownField);
  if (custom || keys.length === 0) return [...duplicates, ...unknownFields];
  const places = new Map<string, number>();
  const paths = new Set(unknown);
  // What an unknown field holds is skipped, and the field itself is reported once.
  let skipped: string | undefined;
  for (const [at, path] of keys.entries()) {
    if (skipped !== undefined && isWithin(path, skipped)) continue;
    skipped = paths.has(path) ? path : undefined;
    places.set(skipped === undefined ? duplicateField(path) : unknownField(path), at);
  }
  const placeOf = (problem: string): number => places.get(problem) ?? keys.length;
  const reported = [...duplicates.filter((problem) => places.has(problem)), ...unknownFields];
  return reported.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function isWithin(path: string, parent: string): boolean {
  return path.startsWith(parent) && [undefined, ".", "["].includes(path[parent.length]);
}

const unknownField = (path: string): string => `unknown field "${path}"`;

function reportProblems(definition: ResourceDefinition, unknown: readonly string[], settings: DecodeSettings): void {
  const { fieldValidation, warnings } = settings;
  const problems = problemsOf(definition, unknown, settings);
  if (problems.length === 0) return;
  if (fieldValidation === "Warn") for (const problem of problems) warnings.add(problem);
  if (fieldValidation !== "Strict") return;
  throw refusal(definition, settings, `strict decoding error: ${strictText(problems)}`);
}

/** Lines of YAML have a heading of their own. */
function strictText(problems: readonly string[]): string {
  const lines = problems.filter((problem) => problem.startsWith("line "));
  const others = problems.filter((problem) => !problem.startsWith("line "));
  const heading = lines.length === 0 ? [] : [["yaml: unmarshal errors:", ...lines].join("\n  ")];
  return [...heading, ...others].join(", ");
}

function refusal({ kind, version }: ResourceDefinition, { patch }: DecodeSettings, why: string): Error {
  if (patch !== undefined) return invalidPatch(patch, why);
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}
