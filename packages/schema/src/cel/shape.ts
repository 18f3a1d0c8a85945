/**
 * The CEL view of a schema: its type, and how data of it become values. Data without a type are invisible.
 */
import { isJsonInteger, lookupTable, deepEqual } from "@setpoint/apimachinery";
import { isEmbedded } from "../object-meta-schema.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { equals } from "./comparison.ts";
import { escapeName, isKeyword } from "./escape-name.ts";
import { scalarOf, textShape } from "./scalar-shape.ts";
import { SchemaList, SchemaMap, SchemaObject, type ObjectField, type Shape } from "./schema-values.ts";
import { dynType, listType, mapType, stringType, type CelType } from "./type.ts";
import { CelFault, type Value } from "./value.ts";

/**
 * `name` is what error messages call the type; `isResource` says that apiVersion, kind and metadata are
 * implied.
 */
export function shapeOf(schema: StructuralSchema, isResource: boolean, name: string): Shape | undefined {
  const shape = bareShape(schema, isResource, name);
  return shape === undefined ? undefined : withNull(shape, schema.nullable === true);
}

function bareShape(schema: StructuralSchema, isResource: boolean, name: string): Shape | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return scalar(dynType, intOrString);
  switch (schema.type) {
    case "array":
      return listShape(schema, name);
    case "object":
      return typeof schema.additionalProperties === "object" && !isResource
        ? mapShape(schema.additionalProperties, name)
        : objectShape(schema, isResource, name);
    case "string":
      return scalar(textShape(schema.format).type, textShape(schema.format).read);
    case "boolean":
    case "integer":
    case "number":
      return scalar(scalarOf(schema.type).type, scalarOf(schema.type).read);
    case undefined:
      return isResource ? objectShape(schema, true, name) : undefined;
  }
}

function scalar(type: CelType, wrap: (json: unknown) => Value): Shape {
  return { type, wrap, equal: (a, b) => a === b || equals(wrap(a), wrap(b)) };
}

function intOrString(json: unknown): Value {
  if (typeof json === "string") return json;
  if (typeof json === "number" || typeof json === "bigint") return isJsonInteger(json) ? BigInt(json) : json;
  return new CelFault("invalid data, expected XIntOrString value to be either a string or integer");
}

function withNull(shape: Shape, isNullable: boolean): Shape {
  const forNull = isNullable ? null : new CelFault("invalid data, got null for schema with nullable=false");
  return {
    type: shape.type,
    wrap: (json) => (json === null ? forNull : shape.wrap(json)),
    equal: (a, b) => (a === null || b === null ? a === b : shape.equal(a, b)),
  };
}

function listShape(schema: StructuralSchema, name: string): Shape | undefined {
  const items =
    schema.items === undefined ? undefined : shapeOf(schema.items, isEmbedded(schema.items), `${name}.@idx`);
  if (items === undefined) return undefined;
  return {
    type: listType(items.type),
    wrap: (json) =>
      Array.isArray(json)
        ? new SchemaList(json, items, schema)
        : new CelFault("invalid data, expected an array for the provided schema with type=array"),
    equal: (a, b) =>
      Array.isArray(a) &&
      Array.isArray(b) &&
      equals(new SchemaList(a, items, schema), new SchemaList(b, items, schema)),
  };
}

const notAnObject = new CelFault("invalid data, expected a map for the provided schema with type=object");

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function mapShape(values: StructuralSchema, name: string): Shape | undefined {
  const shape = shapeOf(values, isEmbedded(values), `${name}.@elem`);
  if (shape === undefined) return undefined;
  return {
    type: mapType(stringType, shape.type),
    wrap: (json) => (isObject(json) ? new SchemaMap(json, shape) : notAnObject),
    equal: (a, b) => isObject(a) && isObject(b) && equalEntries(a, b, () => shape),
  };
}

const impliedFields: Readonly<Record<string, StructuralSchema>> = lookupTable({
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: { type: "object", properties: { name: { type: "string" }, generateName: { type: "string" } } },
});

function objectShape(schema: StructuralSchema, isResource: boolean, name: string): Shape {
  const properties = isResource ? { ...schema.properties, ...impliedFields } : (schema.properties ?? {});
  const fields = new Map<string, ObjectField>();
  const types = new Map<string, CelType>();
  for (const [property, child] of Object.entries(properties)) {
    const escaped = escapeName(property);
    const shape = shapeOf(child, isEmbedded(child), `${name}.${property}`);
    if (shape === undefined || escaped === undefined) continue;
    for (const spelling of isKeyword(property) ? [escaped, property] : [escaped]) {
      fields.set(spelling, { name: property, shape });
      types.set(spelling, shape.type);
    }
  }
  const byName = new Map(Array.from(fields.values(), (field) => [field.name, field.shape]));
  const equal = (a: unknown, b: unknown): boolean =>
    isObject(a) && isObject(b) && equalEntries(a, b, (key) => byName.get(key));
  return {
    type: { kind: "object", name, fields: types },
    wrap: (json) => (isObject(json) ? new SchemaObject(json, fields, equal) : notAnObject),
    equal,
  };
}

/**
 * Entries without a shape are compared as they are: rules do not see them, but `self == oldSelf` means them
 * too.
 */
function equalEntries(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
  shapeAt: (key: string) => Shape | undefined,
): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => {
    if (!Object.hasOwn(b, key)) return false;
    const shape = shapeAt(key);
    return shape === undefined ? deepEqual(a[key], b[key]) : shape.equal(a[key], b[key]);
  });
}
