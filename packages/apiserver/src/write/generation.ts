/** metadata.generation counts the changes of an object's desired state. */
import { deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";
import type { MutableObject } from "../registry/mutable-object.ts";
import { hasStatus, type ResourceDefinition } from "../registry/resource-definition.ts";

export function updateGeneration(definition: ResourceDefinition, object: MutableObject, old: UnstructuredObject): void {
  if (definition.strategy.tracksGeneration !== true && !definition.custom) return;
  const isCounted = hasDesiredChange(definition, object, old) || definition.strategy.countsToo?.(object, old) === true;
  if (isCounted) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function hasDesiredChange(definition: ResourceDefinition, object: MutableObject, old: UnstructuredObject): boolean {
  const ignored = new Set(["apiVersion", "kind", "metadata"]);
  if (!definition.custom || hasStatus(definition)) ignored.add("status");
  const fields = new Set([...Object.keys(object), ...Object.keys(old)]);
  return [...fields].some((field) => !ignored.has(field) && !deepEqual(object[field], old[field]));
}
