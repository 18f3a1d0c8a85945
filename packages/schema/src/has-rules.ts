import type { StructuralSchema } from "./structural-schema.ts";

const known = new WeakMap<StructuralSchema, boolean>();

/** Whether a schema has CEL rules anywhere; remembered, because every write asks. */
export function hasRules(schema: StructuralSchema): boolean {
  const answer = known.get(schema);
  if (answer !== undefined) return answer;
  // Holds while children are visited, so that a schema that contains itself ends.
  known.set(schema, false);
  const found = (schema["x-kubernetes-validations"]?.length ?? 0) > 0 || childrenOf(schema).some(hasRules);
  known.set(schema, found);
  return found;
}

function childrenOf({ items, properties = {}, additionalProperties }: StructuralSchema): StructuralSchema[] {
  const others = [items, additionalProperties].filter((child) => typeof child === "object");
  return [...Object.values(properties), ...others];
}
