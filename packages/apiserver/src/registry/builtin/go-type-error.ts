/** The message of Go's decoder for a value of the wrong type: clients and users search for it. */
import { quantityProblem } from "@setpoint/apimachinery";
import { openApiSchemas } from "./api-data.ts";
import type { OpenApiSchema } from "./openapi-schema.ts";
import { goQuote } from "@setpoint/schema";
import { illegalBase64 } from "./illegal-base64.ts";
import { referenceOf } from "./resolve-schema.ts";

/** A value that a field cannot hold; `path` as `spec.containers[0].image`. */
export interface Misfit {
  readonly path: string;
  /** The JSON type that was found. */
  readonly found: string;
  readonly value: unknown;
}

const intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
const times: ReadonlySet<string> = new Set(
  ["Time", "MicroTime"].map((name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`),
);
const quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const nameOf = (component: string): string => component.slice(component.lastIndexOf(".") + 1);

/**
 * `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`; undefined
 * when the tables do not lead to the field.
 */
export function goTypeError(component: string, { path, found, value }: Misfit): string | undefined {
  const field = fieldAt(component, path);
  if (field === undefined) return undefined;
  if (field.schema.format === "byte" && typeof value === "string") return illegalBase64(value);
  if (found === "string" && (times.has(referenceOf(field.schema) ?? "") || field.schema.format === "date-time"))
    return timeError(String(value));
  if (referenceOf(field.schema) === quantity) return quantityProblem(value);
  const type = goTypeOf(field.schema);
  const isNumberOfInt = found === "number" && type.startsWith("int");
  const given = isNumberOfInt ? `number ${String(value)}` : found === "boolean" ? "bool" : found;
  // It decodes itself, and does not know where it is.
  if (referenceOf(field.schema) === intOrString) return `json: cannot unmarshal ${given} into Go value of type int32`;
  return `json: cannot unmarshal ${given} into Go struct field ${field.struct}.${field.names.join(".")} of type ${type}`;
}

/** Go names the first part of the form that the text does not have. */
function timeError(text: string): string {
  const layout = "2006-01-02T15:04:05Z07:00";
  const parts = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", "Z07:00"];
  let rest = text;
  for (const part of parts) {
    const found = part === "Z07:00" ? "" : rest.slice(0, part.length);
    const fits = /^\d+$/.test(part) ? new RegExp(`^\\d{${part.length}}$`).test(found) : found === part;
    if (!fits)
      return `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(rest)} as ${goQuote(part)}`;
    rest = rest.slice(part.length);
  }
  return `parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`;
}

interface Field {
  readonly schema: OpenApiSchema;
  /** The Go struct that has the field. */
  readonly struct: string;
  /** The names of fields that lead to it; elements of lists and maps have none. */
  readonly names: readonly string[];
}

function fieldAt(component: string, path: string): Field | undefined {
  let properties = openApiSchemas()[component]?.properties;
  let struct = nameOf(component);
  const names: string[] = [];
  let schema: OpenApiSchema | undefined;
  const segments = path.split(".");
  for (const [at, segment] of segments.entries()) {
    const [name = "", ...indexes] = segment.split("[");
    const property: OpenApiSchema | undefined = properties?.[name];
    if (property === undefined) return undefined;
    names.push(name);
    schema = property;
    for (const _index of indexes) schema = schema?.items;
    if (schema === undefined) return undefined;
    // What follows is a key of the map, whatever it contains.
    if (typeof schema.additionalProperties === "object" && schema.properties === undefined)
      return { schema: at === segments.length - 1 ? schema : schema.additionalProperties, struct, names };
    const reference = referenceOf(schema);
    if (reference === undefined || path.endsWith(`${names.join(".")}`)) continue;
    properties = openApiSchemas()[reference]?.properties;
    if (properties !== undefined) struct = nameOf(reference);
  }
  return schema === undefined ? undefined : { schema, struct, names };
}

/** `int32`, `[]string`, `v1.PodSpec`. */
function goTypeOf(schema: OpenApiSchema): string {
  const reference = referenceOf(schema);
  if (reference === intOrString) return "int32";
  if (reference !== undefined) return reference.split(".").slice(-2).join(".");
  const { type, format, items, additionalProperties } = schema;
  if (items !== undefined) return `[]${goTypeOf(items)}`;
  if (typeof additionalProperties === "object") return `map[string]${goTypeOf(additionalProperties)}`;
  if (type === "integer") return format ?? "int64";
  if (type === "boolean") return "bool";
  return type === "number" ? "float64" : (type ?? "interface {}");
}
