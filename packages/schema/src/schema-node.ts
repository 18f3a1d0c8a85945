import type { StructuralSchema } from "./structural-schema.ts";

/**
 * A schema as validation reads it: every node has every keyword, in the same order. Schemas have only the
 * keywords that their author wrote, in the author's order, and reading twenty keywords of objects of a
 * hundred shapes is slow.
 */
export class SchemaNode {
  readonly schema: StructuralSchema;
  readonly type: StructuralSchema["type"];
  readonly format: string | undefined;
  readonly isNullable: boolean;
  readonly isIntOrString: boolean;
  readonly enum: readonly unknown[] | undefined;
  readonly required: readonly string[];
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  /** Whether it has allOf, anyOf, oneOf or not. */
  readonly hasJunctors: boolean;
  readonly #properties: StructuralSchema["properties"];
  readonly #additional: StructuralSchema | undefined;
  readonly #fields = new Map<string, SchemaNode>();
  #rest: SchemaNode | undefined;
  #items: SchemaNode | undefined;

  constructor(schema: StructuralSchema) {
    this.schema = schema;
    this.type = schema.type;
    this.format = schema.format;
    this.isNullable = schema.nullable === true;
    this.isIntOrString = schema["x-kubernetes-int-or-string"] === true;
    this.enum = schema.enum;
    this.required = schema.required ?? [];
    this.minimum = schema.minimum;
    this.maximum = schema.maximum;
    this.exclusiveMinimum = schema.exclusiveMinimum === true;
    this.exclusiveMaximum = schema.exclusiveMaximum === true;
    this.multipleOf = schema.multipleOf;
    this.minLength = schema.minLength;
    this.maxLength = schema.maxLength;
    this.pattern = schema.pattern;
    this.minItems = schema.minItems;
    this.maxItems = schema.maxItems;
    this.minProperties = schema.minProperties;
    this.maxProperties = schema.maxProperties;
    const { additionalProperties } = schema;
    this.#properties = schema.properties;
    this.#additional = typeof additionalProperties === "object" ? additionalProperties : undefined;
    this.hasJunctors = (schema.allOf ?? schema.anyOf ?? schema.oneOf ?? schema.not) !== undefined;
  }

  /** What the value of a field must be; undefined when it may be anything. */
  field(name: string): SchemaNode | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    const properties = this.#properties;
    const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own === undefined) return this.#additional && (this.#rest ??= nodeOf(this.#additional));
    // Only declared names are remembered; names from outside would fill the map.
    const node = nodeOf(own);
    this.#fields.set(name, node);
    return node;
  }

  get items(): SchemaNode | undefined {
    const { items } = this.schema;
    return items && (this.#items ??= nodeOf(items));
  }
}

const nodes = new WeakMap<StructuralSchema, SchemaNode>();

/** The node of a schema, created at its first use, since a schema may contain itself. */
export function nodeOf(schema: StructuralSchema): SchemaNode {
  let node = nodes.get(schema);
  if (node === undefined) nodes.set(schema, (node = new SchemaNode(schema)));
  return node;
}
