import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Whether a schema has, anywhere in it, what `own` looks for in one node; remembered, because every write
 * asks. What the answer holds back needs no walk through the object.
 */
export function rememberedOf(own: (schema: StructuralSchema) => boolean): (schema: StructuralSchema) => boolean {
  const known = new WeakMap<StructuralSchema, boolean>();
  return (schema) => {
    let answer = known.get(schema);
    if (answer === undefined) known.set(schema, (answer = isFound(schema, own, new Set())));
    return answer;
  };
}

/** A schema may contain itself, so each is looked at once. */
function isFound(
  schema: StructuralSchema,
  own: (schema: StructuralSchema) => boolean,
  seen: Set<StructuralSchema>,
): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  return own(schema) || childrenOf(schema).some((child) => isFound(child, own, seen));
}

/** Whether a schema has CEL rules anywhere. */
export const hasRules: (schema: StructuralSchema) => boolean = rememberedOf(
  (schema) => (schema["x-kubernetes-validations"]?.length ?? 0) > 0,
);

function childrenOf({ items, properties = {}, additionalProperties }: StructuralSchema): StructuralSchema[] {
  const others = [items, additionalProperties].filter((child) => typeof child === "object");
  return [...Object.values(properties), ...others];
}
