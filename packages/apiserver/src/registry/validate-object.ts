import { type FieldError, invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import { validateSchema } from "@setpoint/schema";
import type { MutableObject } from "./mutable-object.ts";
import type { RegistryContext } from "./registry-context.ts";
import type { ResourceDefinition, WriteContext } from "./resource-definition.ts";
import { validateMetadata } from "./validate-metadata.ts";

/**
 * Metadata, schema and the kind's own rules; one 422 names everything that is wrong. Only custom kinds are validated by
 * their schema: those of built-in kinds describe the wire, and what upstream requires is in the strategies.
 */
export function validateObject(
  context: RegistryContext,
  definition: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject | undefined,
  write: WriteContext,
): void {
  const errors: FieldError[] = [];
  validateMetadata(definition, object, old, errors);
  if (definition.custom) errors.push(...schemaErrors(context, definition, object, old));
  const ofKind = definition.strategy.validate?.(object, old, write);
  if (ofKind !== undefined) errors.push(...ofKind);
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? "", errors);
}

function schemaErrors(
  context: RegistryContext,
  { schema }: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  const rules = context.rules(schema);
  const present = old === undefined ? {} : { old };
  return validateSchema(schema, object, rules === undefined ? present : { ...present, rules });
}
