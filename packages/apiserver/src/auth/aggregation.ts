import type { LabelSelectorObject, UnstructuredObject } from "@setpoint/apimachinery";
import { objectsAt } from "../registry/json-fields.ts";

/** The label selectors of an aggregated cluster role; none for other roles. */
export function aggregationSelectors(role: UnstructuredObject): readonly LabelSelectorObject[] {
  return objectsAt(role, "aggregationRule", "clusterRoleSelectors");
}
