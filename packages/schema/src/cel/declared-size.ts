/** The maximum size of a schema's data, for the worst-case cost of a rule. */
import { lookupTable } from "@setpoint/apimachinery";
import { isEmbedded } from "../object-meta-schema.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { escapeName } from "./escape-name.ts";

/**
 * A node of a schema: how many characters, items or entries its value may have. Scalars and objects count as
 * 0.
 */
export interface DeclaredSize {
  readonly max: number;
  /** The shortest JSON of a value. */
  readonly jsonMin: number;
  /** Items of a list, values of a map. */
  readonly element?: DeclaredSize;
  readonly key?: DeclaredSize;
  readonly fields?: ReadonlyMap<string, DeclaredSize>;
}

/** The largest request that a server takes; data cannot be larger. */
export const requestBytesMax: number = 3 * 1024 * 1024;

const textMax = requestBytesMax - 2;
/** A character has at most four bytes. */
const characterBytesMax = 4;
const mapKey: DeclaredSize = { max: 0, jsonMin: 2 };

const formats: Readonly<Record<string, DeclaredSize>> = lookupTable({
  duration: { max: 32, jsonMin: 3 },
  date: { max: 12, jsonMin: 12 },
  "date-time": { max: 32, jsonMin: 21 },
});

export function declaredSize(schema: StructuralSchema, isResource: boolean): DeclaredSize | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const { maxLength } = schema;
    return { max: maxLength === undefined ? textMax : maxLength * characterBytesMax, jsonMin: 1 };
  }
  switch (schema.type ?? (isResource ? "object" : undefined)) {
    case "array":
      return listSize(schema);
    case "object":
      return typeof schema.additionalProperties === "object" && !isResource
        ? mapSize(schema, schema.additionalProperties)
        : objectSize(schema, isResource);
    case "string":
      return textSize(schema);
    case "boolean":
      return { max: 0, jsonMin: 4 };
    case "integer":
    case "number":
      return { max: 0, jsonMin: 1 };
    case undefined:
      return undefined;
  }
  return undefined;
}

function textSize({ format = "", maxLength, enum: values }: StructuralSchema): DeclaredSize {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (known !== undefined) return known;
  if (format === "byte") return { max: maxLength ?? textMax, jsonMin: 2 };
  if (maxLength !== undefined) return { max: maxLength * characterBytesMax, jsonMin: 2 };
  if (values === undefined || values.length === 0) return { max: textMax, jsonMin: 2 };
  const lengths = values.map((value) => (typeof value === "string" ? value.length : 0));
  return { max: Math.max(...lengths), jsonMin: 2 };
}

function listSize({ items, maxItems }: StructuralSchema): DeclaredSize | undefined {
  const element = items === undefined ? undefined : declaredSize(items, isEmbedded(items));
  if (element === undefined) return undefined;
  return { max: maxItems ?? Math.floor(textMax / (element.jsonMin + 1)), jsonMin: 2, element };
}

function mapSize({ maxProperties }: StructuralSchema, values: StructuralSchema): DeclaredSize | undefined {
  const element = declaredSize(values, isEmbedded(values));
  if (element === undefined) return undefined;
  return { max: maxProperties ?? Math.floor(textMax / (element.jsonMin + 6)), jsonMin: 2, element, key: mapKey };
}

const implied: Readonly<Record<string, StructuralSchema>> = lookupTable({
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: { type: "object", properties: { name: { type: "string" }, generateName: { type: "string" } } },
});

function objectSize({ properties = {}, required = [] }: StructuralSchema, isResource: boolean): DeclaredSize {
  const fields = new Map<string, DeclaredSize>();
  let jsonMin = 2;
  for (const [name, schema] of Object.entries(isResource ? { ...properties, ...implied } : properties)) {
    const size = declaredSize(schema, isEmbedded(schema));
    if (size === undefined) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, size);
    if (required.includes(name) && schema.default === undefined) jsonMin += name.length + size.jsonMin + 4;
  }
  return { max: 0, jsonMin, fields };
}
