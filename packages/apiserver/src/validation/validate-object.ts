import { type FieldError, invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import type { MutableObject } from "../registry/mutable-object.ts";
import { isTooLarge, tooLargeForStorage } from "./object-size.ts";
import type { ResourceDefinition, WriteContext } from "../registry/resource-definition.ts";
import { validateMetadata, warnOfFinalizers } from "./validate-metadata.ts";

/**
 * Metadata and what the strategy says of the rest; one 422 names everything that is wrong. Strategies of
 * custom kinds validate by schema; the schemas of built-in kinds describe the wire alone. An object that
 * cannot be stored for its size is refused at the end, as the storage would do it. One of a custom kind is
 * refused before its schema and rules cost time.
 */
export function validateObject(
  definition: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject | undefined,
  write: WriteContext,
): void {
  const isOversized = isTooLarge(object);
  if (isOversized && definition.custom) throw tooLargeForStorage();
  const errors: FieldError[] = [];
  validateMetadata(definition, object, old, errors);
  const ofKind = definition.strategy.validate?.(object, old, write);
  if (ofKind !== undefined) errors.push(...ofKind);
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? "", errors);
  if (isOversized) throw tooLargeForStorage();
  warnOfFinalizers(definition, object, old, write);
  // A subresource writes what people do not.
  if (write.subresource === "")
    for (const warning of definition.strategy.warnings?.(object, old) ?? []) write.warn(warning);
}
