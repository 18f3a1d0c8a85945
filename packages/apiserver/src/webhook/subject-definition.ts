/**
 * The kind that admission sees: that of the resource, or Scale for a scale subresource.
 */
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import { builtinResources, componentOf } from "../registry/builtin/builtin-resources.ts";
import { resolveSchema } from "../registry/builtin/resolve-schema.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

let scale: ResourceDefinition | undefined;

/** In the version of `definition`; a Scale is the same in all. */
export function subjectDefinition(
  { subresource }: Pick<AdmissionRequest, "subresource">,
  definition: ResourceDefinition,
): ResourceDefinition {
  return subresource === "scale" ? (scale ??= scaleDefinition()) : definition;
}

function scaleDefinition(): ResourceDefinition {
  const scalable = builtinResources().find((each) => each.scale !== undefined);
  const component = componentOf("autoscaling", "v1", "Scale");
  if (scalable === undefined || component === undefined) throw new Error("Cannot find Scale in the data of the API");
  const kind = { group: "autoscaling", version: "v1", kind: "Scale", listKind: "ScaleList" };
  return { ...scalable, ...kind, schema: resolveSchema(component), strategy: {} };
}
