/** The keywords of `openAPIV3Schema` that change a type; the server checks the others. */
export interface CrdSchema {
  readonly type?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly additionalProperties?: CrdSchema | boolean;
  readonly items?: CrdSchema;
  readonly required?: readonly string[];
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
}

/** Deeper than any schema that a server took; a YAML alias can make one that contains itself. */
const depthMax = 64;

/**
 * What is wrong with a schema from outside, path first, as a server would not have taken it; undefined for
 * none.
 */
export function schemaFault(value: unknown, path: string, depth = 0): string | undefined {
  if (depth > depthMax) return `${path} is nested more than ${depthMax} deep`;
  if (!isRecord(value)) return `${path} is not an object`;
  const { enum: values, required, properties, description, items, additionalProperties: rest } = value;
  if (values !== undefined && !Array.isArray(values)) return `${path}.enum is not a list`;
  if (required !== undefined && !Array.isArray(required)) return `${path}.required is not a list`;
  if (description !== undefined && typeof description !== "string") return `${path}.description is not a text`;
  if (properties !== undefined && !isRecord(properties)) return `${path}.properties is not an object`;
  const children: (readonly [string, unknown])[] = Object.entries(properties ?? {}).map(([field, each]) => [
    `${path}.properties.${field}`,
    each,
  ]);
  if (items !== undefined) children.push([`${path}.items`, items]);
  if (rest !== undefined && typeof rest !== "boolean") children.push([`${path}.additionalProperties`, rest]);
  for (const [childPath, child] of children) {
    const fault = schemaFault(child, childPath, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
