/**
 * Turns a zod schema into a structural schema. It starts from zod's own JSON Schema, and rejects what
 * Kubernetes cannot express with the field's path. Checks by functions (`.refine`) have no JSON form: they
 * run where objects are built and parsed, not on the server. A CEL `rule` runs everywhere.
 */
import { lookupTable, SetpointError } from "@setpoint/apimachinery";
import { z } from "zod";
import { joinPath } from "./field-path.ts";
import { compilePattern } from "./pattern.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** A node of zod's JSON Schema; only `additionalProperties` and `items` may be a boolean. */
interface JsonNode {
  readonly [keyword: string]: unknown;
}

const markerKey = "x-setpoint-zod";

/**
 * zod's names of formats → those that Kubernetes checks itself, so that zod's own pattern for them is not
 * needed.
 */
const knownFormats: Readonly<Record<string, string>> = lookupTable({
  "date-time": "date-time",
  date: "date",
  uri: "uri",
  email: "email",
  ipv4: "ipv4",
  ipv6: "ipv6",
  uuid: "uuid",
  hostname: "hostname",
  cidrv4: "cidr",
  cidrv6: "cidr",
  base64: "byte",
});

const numericFormats: ReadonlySet<string> = new Set(["int32", "int64", "float", "double"]);

/** Keywords that mean the same in both worlds. */
const sharedKeywords: ReadonlySet<string> = new Set(
  "title description default nullable multipleOf minLength maxLength minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);

/**
 * Converts a zod schema to a structural schema; `path` starts the field paths in errors. Throws for types
 * that have no structural form (transforms, Map, Date and others), with the type to use instead.
 */
export function structuralFromZod(schema: z.ZodType, path: string): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: (context) => mark(context, path),
  });
  return convert(json, path);
}

interface OverrideContext {
  readonly zodSchema: unknown;
  readonly jsonSchema: Record<string, unknown>;
  readonly path: readonly (string | number)[];
}

interface ZodDefinition {
  readonly type: string;
  readonly format?: string;
  readonly checks?: readonly { readonly _zod: { readonly def: { readonly format?: string } } }[];
}

const inexpressible: Readonly<Record<string, string>> = lookupTable({
  bigint: "small integers are numbers in JSON; use int64(), or z.int() for what a number holds",
  date: "a Date has no JSON form; use timestamp()",
  pipe: "a value on the wire cannot be transformed; parse it where it is used",
  transform: "a value on the wire cannot be transformed; parse it where it is used",
  catch: "a wrong value must be an error; use .default() for a missing one",
  map: "a Map has no JSON form; use z.record()",
  set: 'a Set has no JSON form; use field(z.array(…), { listType: "set" })',
  undefined: "undefined has no JSON form; use .optional()",
  symbol: "a symbol has no JSON form",
  function: "a function has no JSON form",
  promise: "a promise has no JSON form",
  nan: "NaN has no JSON form",
});

/** Records what zod's JSON Schema loses, and rejects types that it cannot express. */
function mark(context: OverrideContext, path: string): void {
  const { def } = (context.zodSchema as { _zod: { def: ZodDefinition } })._zod;
  const reason = inexpressible[def.type];
  if (reason !== undefined) throw refusal(joinSegments(path, context.path), reason);
  if (def.type === "number") {
    const formats = [def.format, ...(def.checks ?? []).map((check) => check._zod.def.format)];
    const format = formats.find((name) => name === "safeint" || name === "int32");
    if (format !== undefined) context.jsonSchema[markerKey] = format;
  }
}

function joinSegments(path: string, segments: readonly (string | number)[]): string {
  const names = segments.filter((_, index) => segments[index - 1] === "properties");
  return names.reduce<string>((parent, name) => joinPath(parent, String(name)), path);
}

function refusal(path: string, reason: string): SetpointError {
  return new SetpointError("ERR_SCHEMA_NOT_STRUCTURAL", `Cannot describe field "${path}" to Kubernetes: ${reason}`);
}

function convert(node: JsonNode, path: string): StructuralSchema {
  if (node["$ref"] !== undefined || node["$defs"] !== undefined) throw refusal(path, "a schema may not contain itself");
  if (node["prefixItems"] !== undefined)
    throw refusal(path, "a tuple cannot be structural; use z.array() or z.object()");
  if (node["type"] === "null") throw refusal(path, "null alone is no value; use .nullable() or .optional()");
  const { type } = node;
  if (Array.isArray(type)) {
    // zod's short form of `T | null`.
    const branches = type.map((name: unknown) => (name === "null" ? { type: name } : { ...node, type: name }));
    return convert({ ...node, type: undefined, anyOf: branches }, path);
  }
  const branches = (node["anyOf"] ?? node["oneOf"]) as readonly JsonNode[] | undefined;
  const target = branches === undefined ? ownForm(node, path) : unionForm(branches, path);
  const rest = sharedForm(node);
  // The outer node wins: `field(z.string().nullable(), { description })`.
  return { ...target, ...rest };
}

/** Keywords that stay as they are, among them all of Kubernetes' own. */
function sharedForm(node: JsonNode): StructuralSchema {
  const shared: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (key.startsWith("x-kubernetes-") || sharedKeywords.has(key)) shared[key] = value;
  }
  const examples = node["examples"];
  if (Array.isArray(examples) && examples.length > 0) shared["example"] = examples[0];
  return shared;
}

function ownForm(node: JsonNode, path: string): StructuralSchema {
  const values = node["enum"] ?? (node["const"] === undefined ? undefined : [node["const"]]);
  if (Array.isArray(values)) return enumForm(values, path);
  switch (node["type"]) {
    case "object":
      return objectForm(node, path);
    case "array":
      return { type: "array", items: convert((node["items"] ?? {}) as JsonNode, `${path}[]`) };
    case "string":
      return stringForm(node, path);
    case "integer":
    case "number":
      return numberForm(node, path);
    case "boolean":
      return { type: "boolean" };
    default:
      if (node["allOf"] !== undefined) {
        throw refusal(path, "an intersection cannot be structural; use .extend() to make one object");
      }
      return { "x-kubernetes-preserve-unknown-fields": true };
  }
}

function enumForm(values: readonly unknown[], path: string): StructuralSchema {
  const types = new Set(values.map((value) => (Number.isInteger(value) ? "integer" : typeof value)));
  if (types.has("number")) types.delete("integer");
  const [type, another] = types;
  if (another !== undefined || (type !== "string" && type !== "integer" && type !== "number" && type !== "boolean")) {
    throw refusal(path, "the values of an enumeration must all be strings, all numbers or all booleans");
  }
  return { type, enum: values };
}

function objectForm(node: JsonNode, path: string): StructuralSchema {
  const additional = node["additionalProperties"];
  const properties = convertProperties(node["properties"], path);
  const keys = (node["propertyNames"] as JsonNode | undefined)?.["enum"];
  if (Array.isArray(keys)) return enumeratedForm(keys as readonly string[], additional as JsonNode, node, path);
  const form: StructuralSchema = { type: "object" };
  const required = node["required"] as readonly string[] | undefined;
  const named = {
    ...form,
    ...(properties === undefined ? {} : { properties }),
    ...(required === undefined || required.length === 0 ? {} : { required }),
  };
  if (additional === undefined || additional === false) return named;
  if (isAnything(additional as JsonNode)) return { ...named, "x-kubernetes-preserve-unknown-fields": true };
  if (properties !== undefined && Object.keys(properties).length > 0) {
    throw refusal(path, "an object has either named fields or a value type for all keys; use z.object() or z.record()");
  }
  return { ...form, additionalProperties: convert(additional as JsonNode, `${path}.*`) };
}

function convertProperties(source: unknown, path: string): Record<string, StructuralSchema> | undefined {
  if (source === undefined) return undefined;
  const properties: Record<string, StructuralSchema> = {};
  for (const [name, child] of Object.entries(source as Record<string, JsonNode>)) {
    properties[name] = convert(child, joinPath(path, name));
  }
  return properties;
}

/** A record whose keys are an enumeration is an object with those fields. */
function enumeratedForm(keys: readonly string[], value: JsonNode, node: JsonNode, path: string): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  for (const key of keys) properties[key] = convert(value, joinPath(path, key));
  const required = node["required"] as readonly string[] | undefined;
  return { type: "object", properties, ...(required === undefined ? {} : { required }) };
}

function isAnything(node: JsonNode): boolean {
  return Object.keys(node).length === 0;
}

function stringForm(node: JsonNode, path: string): StructuralSchema {
  const form: Record<string, unknown> = { type: "string" };
  for (const key of ["minLength", "maxLength"]) if (node[key] !== undefined) form[key] = node[key];
  const format = node["format"] as string | undefined;
  const known = format === undefined ? undefined : knownFormats[format];
  if (known !== undefined) form["format"] = known;
  else if (format === "duration" || format === "password") form["format"] = format;
  const patterns = [node, ...((node["allOf"] ?? []) as readonly JsonNode[])].flatMap((part) =>
    typeof part["pattern"] === "string" ? [part["pattern"]] : [],
  );
  if (known !== undefined) return form;
  for (const pattern of patterns) requireRe2(pattern, path);
  if (patterns.length === 1) form["pattern"] = patterns[0];
  if (patterns.length > 1) form["allOf"] = patterns.map((pattern) => ({ pattern }));
  return form;
}

function requireRe2(pattern: string, path: string): void {
  if (compilePattern(pattern) !== undefined) return;
  throw refusal(path, `Kubernetes reads patterns as RE2, which has no lookaround or backreference: ${pattern}`);
}

/** What a client writes to a spec; a status is the operator's own. */
const ofClients = /^spec\b/;

function numberForm(node: JsonNode, path: string): StructuralSchema {
  const form: Record<string, unknown> = { type: node["type"] };
  const marker = node[markerKey];
  if (marker === "int32") form["format"] = "int32";
  if (marker === "safeint") form["format"] = "int64";
  const format = node["format"];
  if (typeof format === "string" && numericFormats.has(format)) form["format"] = format;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  // The format says these limits, except that a number holds less than int64.
  const implied = marker === "int32" ? 2 ** 31 : ofClients.test(path) ? Infinity : Number.MAX_SAFE_INTEGER;
  if (typeof minimum === "number" && minimum > -implied) form["minimum"] = minimum;
  if (typeof maximum === "number" && maximum < implied - (marker === "int32" ? 1 : 0)) form["maximum"] = maximum;
  // JSON Schema 2020 has numbers here, Kubernetes the booleans of draft 4.
  if (typeof exclusiveMinimum === "number") Object.assign(form, { minimum: exclusiveMinimum, exclusiveMinimum: true });
  if (typeof exclusiveMaximum === "number") Object.assign(form, { maximum: exclusiveMaximum, exclusiveMaximum: true });
  if (multipleOf !== undefined) form["multipleOf"] = multipleOf;
  return form;
}

/**
 * `T | null`, an enumeration spelt as a union of literals, or int-or-string; other unions have no structural
 * form.
 */
function unionForm(branches: readonly JsonNode[], path: string): StructuralSchema {
  const present = branches.filter((branch) => branch["type"] !== "null");
  const [only] = present;
  if (present.length < branches.length && only !== undefined) {
    const inner = present.length === 1 ? convert(only, path) : unionForm(present, path);
    return { ...inner, nullable: true };
  }
  const values = present.map((branch) => branch["enum"] ?? (branch["const"] === undefined ? [] : [branch["const"]]));
  if (values.every((list) => Array.isArray(list) && list.length > 0)) return enumForm(values.flat(), path);
  const kinds = new Set(present.map((branch) => branch["type"]));
  if (kinds.size === 2 && kinds.has("string") && (kinds.has("integer") || kinds.has("number"))) {
    return { "x-kubernetes-int-or-string": true };
  }
  throw refusal(
    path,
    "a union cannot be structural; use one object with optional fields and a rule that says which go together",
  );
}
