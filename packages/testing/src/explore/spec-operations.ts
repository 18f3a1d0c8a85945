/**
 * What a user may do to a spec, from its schema: every field changed, removed, at its bounds, and given what
 * it must not be.
 */
import { encodeJson } from "@setpoint/apimachinery";
import type { KubeObject } from "@setpoint/apimachinery";
import { seededRandom } from "@setpoint/host/simulated";
import type { StructuralSchema } from "@setpoint/schema";
import { NoValue, ValueMaker } from "../arbitrary-value.ts";

export interface SpecOperation {
  /** `spec.size` */
  readonly path: string;
  readonly what: "change" | "remove" | "minimum" | "maximum" | "invalid";
  /** A merge patch of the object. */
  readonly patch: { readonly spec: unknown };
}

/** Deeper than this, a field is changed as a whole. */
const depthMax = 6;
const attemptsMax = 20;

/** A field: a scalar, a list, or an object whose fields are not known. */
interface Leaf {
  readonly path: readonly string[];
  readonly schema: StructuralSchema;
  readonly isRequired: boolean;
}

/** `samples` are values by path for fields whose texts cannot be guessed. */
export function specOperations(
  schema: StructuralSchema,
  base: KubeObject,
  seed: number,
  samples: Readonly<Record<string, readonly unknown[]>> = {},
): readonly SpecOperation[] {
  const maker = new ValueMaker(seededRandom(seed), samples);
  return leavesOf(schema, ["spec"], false).flatMap((leaf) => operationsOf(leaf, base, maker));
}

/** The paths of all fields of a spec. */
export function specFields(schema: StructuralSchema): readonly string[] {
  return leavesOf(schema, ["spec"], false).map(({ path }) => path.join("."));
}

function leavesOf(schema: StructuralSchema, path: readonly string[], isRequired: boolean): readonly Leaf[] {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0 || path.length > depthMax) return [{ path, schema, isRequired }];
  const required = new Set(schema.required ?? []);
  return properties.flatMap(([name, child]) => leavesOf(child, [...path, name], required.has(name)));
}

function operationsOf(
  { path, schema, isRequired }: Leaf,
  base: KubeObject,
  maker: ValueMaker,
): readonly SpecOperation[] {
  const present = valueAt(base, path);
  const at = path.join(".");
  const operation = (what: SpecOperation["what"], value: unknown): SpecOperation => ({
    path: at,
    what,
    patch: patchOf(path, value),
  });
  const operations: SpecOperation[] = [];
  const changed = otherThan(present, schema, at, maker);
  if (changed !== undefined) operations.push(operation("change", changed));
  if (!isRequired && present !== undefined) operations.push(operation("remove", null));
  if (schema.minimum !== undefined && schema.minimum !== present) operations.push(operation("minimum", schema.minimum));
  if (schema.maximum !== undefined && schema.maximum !== present) operations.push(operation("maximum", schema.maximum));
  operations.push(operation("invalid", invalidFor(schema)));
  return operations;
}

function otherThan(present: unknown, schema: StructuralSchema, path: string, maker: ValueMaker): unknown {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    try {
      const value = maker.make(schema, path);
      if (value !== undefined && value !== null && encodeJson(value) !== encodeJson(present)) return value;
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
      return undefined;
    }
  }
  return undefined;
}

/** What no server may take: of another type, or beyond the bounds. */
function invalidFor(schema: StructuralSchema): unknown {
  if (schema.minimum !== undefined) return schema.minimum - 1;
  if (schema.type === "string") return 7;
  if (schema.type === "object") return "not an object";
  return "not of this type";
}

function valueAt(object: KubeObject, path: readonly string[]): unknown {
  let at: unknown = object;
  for (const name of path)
    at = typeof at === "object" && at !== null ? (at as Readonly<Record<string, unknown>>)[name] : undefined;
  return at;
}

function patchOf(path: readonly string[], value: unknown): { readonly spec: unknown } {
  const [, ...below] = path;
  const spec = below.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return { spec };
}
