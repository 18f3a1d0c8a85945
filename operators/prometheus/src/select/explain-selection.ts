/** Why a workload does not select an object; pure. */
import type { Selector } from "../kind/scrape-fields.ts";
import { selectorMismatches } from "./selector-mismatch.ts";
import { type ConfigurationKind, type Labelled, type Selecting, selectorFields } from "./selection.ts";

/** Undefined when the workload selects it. `place` is the namespace of the object. */
export function selectionMismatch(
  workload: Selecting,
  kind: ConfigurationKind,
  object: Labelled,
  place: Labelled | undefined,
): string | undefined {
  const [ofObjects, ofNamespaces] = selectorFields(kind);
  const selector = workload.spec[ofObjects];
  if (selector === undefined) return `spec.${ofObjects} is absent, so it selects none; {} selects all`;
  const wrongPlace = namespaceMismatch(workload, ofNamespaces, workload.spec[ofNamespaces], object, place);
  const wrong = selectorMismatches(selector, object.metadata.labels);
  const reasons = [...wrongPlace, ...(wrong.length === 0 ? [] : [`spec.${ofObjects}: ${wrong.join(" and ")}`])];
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

function namespaceMismatch(
  workload: Labelled,
  field: string,
  selector: Selector | undefined,
  { metadata: { namespace = "" } }: Labelled,
  place: Labelled | undefined,
): readonly string[] {
  const own = workload.metadata.namespace ?? "";
  if (selector === undefined) {
    if (own === namespace) return [];
    return [`spec.${field} is absent, so it looks in its own namespace "${own}" alone, not in "${namespace}"`];
  }
  if (place === undefined) return [`namespace "${namespace}" does not exist`];
  const wrong = selectorMismatches(selector, place.metadata.labels);
  return wrong.length === 0 ? [] : [`spec.${field}: namespace "${namespace}": ${wrong.join(" and ")}`];
}
