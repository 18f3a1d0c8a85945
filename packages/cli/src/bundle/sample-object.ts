/** The smallest object that a CustomResourceDefinition's schema takes. */

/** The part of a schema that decides what must be there. */
export interface SampleSchema {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SampleSchema>>;
  readonly items?: SampleSchema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly example?: unknown;
  readonly "x-kubernetes-int-or-string"?: boolean;
}

/** What a field without a better value gets, by type. */
const plain: Readonly<Record<string, unknown>> = { integer: 0, number: 0, boolean: false };

/** Required fields alone, with their examples, defaults, first choices or lower bounds. */
export function sampleOf(schema: SampleSchema): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema["x-kubernetes-int-or-string"] === true) return schema.minimum ?? 1;
  if (schema.type === "object") return sampleObject(schema);
  if (schema.type === "array") return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
  if (schema.type === "string") return "x".repeat(schema.minLength ?? 0);
  return schema.minimum ?? plain[schema.type ?? ""] ?? {};
}

function sampleObject({ properties = {}, required = [] }: SampleSchema): Readonly<Record<string, unknown>> {
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
}
