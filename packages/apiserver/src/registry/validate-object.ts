import { type FieldError, invalid } from "@setpoint/apimachinery";
import type { MutableObject } from "./mutable-object.ts";
import type { RegistryContext } from "./registry-context.ts";
import type { ResourceDefinition, WriteContext } from "./resource-definition.ts";
import { validateMetadata } from "./validate-metadata.ts";
import type { UnstructuredObject } from "@setpoint/apimachinery";

/** Metadata, schema and the kind's own rules; one 422 names everything that is wrong. */
export function validateObject(
  _context: RegistryContext,
  definition: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject | undefined,
  write: WriteContext,
): void {
  const errors: FieldError[] = [];
  validateMetadata(definition, object, old, errors);
  for (const error of definition.strategy.validate?.(object, old, write) ?? []) errors.push(error);
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? "", errors);
}
