import { FieldSet } from "@setpoint/apimachinery";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

const status = FieldSet.of(["f:status"]);
const spec = FieldSet.of(["f:spec"]);
const specAndLabels = FieldSet.of(["f:spec"], ["f:metadata", "f:labels"]);
const specAndMetadata = FieldSet.of(["f:spec"], ["f:metadata"]);

/** The fields that an endpoint does not write, so that no manager can own them through it. */
export function resetFieldsOf(definition: ResourceDefinition, subresource: string): FieldSet | undefined {
  if (subresource === "status") {
    if (definition.custom) return specAndMetadata;
    return definition.strategy.statusKeepsLabels === true ? specAndLabels : spec;
  }
  return definition.subresources.some(({ name }) => name === "status") ? status : undefined;
}
