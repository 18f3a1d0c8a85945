/**
 * The view of server-side apply on a structural schema: leaves, maps and associative lists. Derived lazily,
 * once for each schema object, because schemas may contain themselves.
 */
import { lookupTable, type FieldPathElement, fieldElement, isJsonObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";

export type ScalarType = "string" | "numeric" | "boolean" | "untyped";

export interface MapAtom {
  readonly atomic: boolean;
  field(name: string): MapField;
}

export interface MapField {
  /** The step to it in a path. */
  readonly element: FieldPathElement;
  /** Undefined when the schema does not allow it. */
  readonly atom: Atom | undefined;
  /** Whether the schema names it (fields of maps with free keys are not declared). */
  readonly isDeclared: boolean;
}

export interface ListAtom {
  readonly kind: "atomic" | "set" | "map";
  /** The key fields of a list of kind `map`. */
  readonly keys: readonly string[];
  readonly keyDefaults: Readonly<Record<string, unknown>>;
  readonly item: Atom;
}

/** What a value of a schema may be: exactly one for typed schemas, any for untyped ones. */
export interface Atom {
  readonly scalar?: ScalarType;
  readonly list?: ListAtom;
  readonly map?: MapAtom;
}

/** Anything, as one leaf: lists and maps are atomic. */
const untypedAtom: Atom = {
  scalar: "untyped",
  list: {
    kind: "atomic",
    keys: [],
    keyDefaults: {},
    get item(): Atom {
      return untypedAtom;
    },
  },
  map: { atomic: true, field: (name) => freeField(name, untypedAtom) },
};

/** Anything: lists are atomic, maps are granular. */
export const deducedAtom: Atom = {
  ...untypedAtom,
  map: { atomic: false, field: (name) => freeField(name, deducedAtom) },
};

function freeField(name: string, atom: Atom | undefined): MapField {
  return { element: fieldElement(name), atom, isDeclared: false };
}

const string: StructuralSchema = { type: "string" };
const date: StructuralSchema = { type: "string", format: "date-time" };
const integer: StructuralSchema = { type: "integer" };
const strings: StructuralSchema = { type: "object", additionalProperties: string };

/** ObjectMeta for kinds whose schema has metadata as a plain object (CRDs). */
const objectMetaSchema: StructuralSchema = {
  type: "object",
  properties: {
    name: string,
    generateName: string,
    namespace: string,
    selfLink: string,
    uid: string,
    resourceVersion: string,
    generation: integer,
    creationTimestamp: date,
    deletionTimestamp: date,
    deletionGracePeriodSeconds: integer,
    labels: strings,
    annotations: strings,
    finalizers: { type: "array", items: string, "x-kubernetes-list-type": "set" },
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: {
          apiVersion: string,
          kind: string,
          name: string,
          uid: string,
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
    },
    managedFields: { type: "array", items: { type: "object" } },
  },
};

/** The fields that every object has, also when its schema omits them. */
const objectFields: Readonly<Record<string, StructuralSchema>> = lookupTable({
  apiVersion: string,
  kind: string,
  metadata: objectMetaSchema,
});

const scalarTypes: Readonly<Record<string, ScalarType>> = lookupTable({
  integer: "numeric",
  number: "numeric",
  boolean: "boolean",
});

function scalarTypeOf(schema: StructuralSchema): ScalarType {
  const byType = scalarTypes[schema.type ?? ""];
  if (byType !== undefined) return byType;
  // Formats other than byte stand for Go types of their own (Time, IntOrString, Quantity) that also accept
  // other JSON.
  return schema.type === "string" && (schema.format === undefined || schema.format === "byte") ? "string" : "untyped";
}

const atoms = new WeakMap<StructuralSchema, Atom>();
const preservingAtoms = new WeakMap<StructuralSchema, Atom>();
const rootAtoms = new WeakMap<StructuralSchema, Atom>();

/** The atom of a schema; `preserve` is true when a schema above it preserves unknown fields. */
function atomOf(schema: StructuralSchema, preserve: boolean): Atom {
  const preserves = preserve || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const cache = preserves ? preservingAtoms : atoms;
  let atom = cache.get(schema);
  if (atom === undefined) {
    atom = createAtom(schema, preserves);
    cache.set(schema, atom);
  }
  return atom;
}

/** The atom of a whole object: apiVersion, kind and metadata are declared always. */
export function rootAtomOf(schema: StructuralSchema): Atom {
  let atom = rootAtoms.get(schema);
  if (atom === undefined) {
    const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
    atom = { map: createMapAtom(withObjectFields(schema), preserves) };
    rootAtoms.set(schema, atom);
  }
  return atom;
}

function withObjectFields(schema: StructuralSchema): StructuralSchema {
  const metadata = schema.properties?.["metadata"];
  const known = metadata?.properties?.["managedFields"] === undefined ? objectFields : {};
  // A schema without any properties is free-form; it must stay so although three fields are now declared.
  const free = schema.properties === undefined && schema.additionalProperties === undefined;
  return {
    ...schema,
    properties: { apiVersion: string, kind: string, ...schema.properties, ...known },
    ...(free ? { additionalProperties: true } : {}),
  };
}

function createAtom(schema: StructuralSchema, preserve: boolean): Atom {
  if (schema.type === "object") {
    const embedded = schema["x-kubernetes-embedded-resource"] === true ? withObjectFields(schema) : schema;
    return { map: createMapAtom(embedded, preserve) };
  }
  if (schema.type === "array") return { list: createListAtom(schema, preserve) };
  if (schema.type !== undefined) return { scalar: scalarTypeOf(schema) };
  const scalar = { scalar: "untyped" } as const;
  if (isQuantity(schema)) return scalar;
  return { ...scalar, list: createListAtom(schema, preserve), map: createMapAtom(schema, preserve) };
}

/**
 * Of the types with several JSON forms, Quantity alone takes scalars only. Lists and maps for the others
 * (IntOrString, for example) are refused later, by decoding or validation.
 */
function isQuantity({ format }: StructuralSchema): boolean {
  return format === "quantity";
}

function createMapAtom(schema: StructuralSchema, preserve: boolean): MapAtom {
  const declared = new Map(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, declaredField(name, property, preserve)]),
  );
  const additional = schema.additionalProperties;
  const fallback = (): Atom | undefined => {
    if (additional === undefined) return preserve || declared.size === 0 ? deducedAtom : undefined;
    if (typeof additional === "object") return atomOf(additional, preserve);
    return additional ? deducedAtom : undefined;
  };
  return {
    atomic: schema["x-kubernetes-map-type"] === "atomic",
    field: (name) => declared.get(name) ?? freeField(name, fallback()),
  };
}

function declaredField(name: string, schema: StructuralSchema, preserve: boolean): MapField {
  return {
    element: fieldElement(name),
    isDeclared: true,
    // Only when it is read: a schema may contain itself.
    get atom(): Atom {
      return atomOf(schema, preserve);
    },
  };
}

function createListAtom(schema: StructuralSchema, preserve: boolean): ListAtom {
  const items = schema.items;
  const { kind, keys } = listKindOf(schema);
  const keyDefaults: Record<string, unknown> = {};
  for (const key of keys) {
    const property = items?.properties?.[key];
    const value = property?.default ?? (isOfGo(schema) ? zeros[property?.type ?? ""] : undefined);
    if (value !== undefined) keyDefaults[key] = value;
  }
  let item: Atom | undefined;
  return {
    kind,
    keys,
    keyDefaults,

    get item(): Atom {
      item ??= items === undefined ? untypedAtom : atomOf(items, preserve);
      return item;
    },
  };
}

/** Go decodes an item without its key as one with a zero, for the validation to refuse. */
function isOfGo(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-patch-merge-key"] !== undefined;
}

const zeros: Readonly<Record<string, unknown>> = lookupTable({ string: "", integer: 0 });

function listKindOf(schema: StructuralSchema): { readonly kind: ListAtom["kind"]; readonly keys: readonly string[] } {
  const type = schema["x-kubernetes-list-type"];
  if (type === "map") return { kind: "map", keys: schema["x-kubernetes-list-map-keys"] ?? [] };
  if (type !== undefined) return { kind: type, keys: [] };
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy !== "merge" && strategy !== "merge,retainKeys") return { kind: "atomic", keys: [] };
  const key = schema["x-kubernetes-patch-merge-key"];
  return key === undefined ? { kind: "set", keys: [] } : { kind: "map", keys: [key] };
}

/** What a value is by its JSON form; null and undefined have none. */
export type ValueKind = "scalar" | "list" | "map" | "null";

export function valueKindOf(value: unknown): ValueKind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "list";
  return isJsonObject(value) ? "map" : "scalar";
}
