import type { StructuralSchema } from "./structural-schema.ts";

/** Whether a schema has CEL rules anywhere. */
export function hasRules(schema: StructuralSchema): boolean {
  return isFound(schema, new Set());
}

/** A schema may contain itself, so each is looked at once. */
function isFound(schema: StructuralSchema, seen: Set<StructuralSchema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if ((schema["x-kubernetes-validations"]?.length ?? 0) > 0) return true;
  return childrenOf(schema).some((child) => isFound(child, seen));
}

function childrenOf({ items, properties = {}, additionalProperties }: StructuralSchema): readonly StructuralSchema[] {
  const others = [items, additionalProperties].filter((child) => typeof child === "object");
  return [...Object.values(properties), ...others];
}
