/** Brings the workloads of a namespace to what one binding wants of them. */
import { isInvalid, type KubeObject, labelSelectorOf, type LabelSelectorObject } from "@setpoint/apimachinery";
import type { ReconcileContext, Stored } from "setpoint";
import { type Projection, recordKey, withBinding, withoutBinding } from "./pod-template-binding.ts";
import { boundTemplate, workloadKindOf, workloadKinds, workloadPatch } from "./workload-kinds.ts";

/** Which workloads a binding is for, as specs have it. */
export interface WorkloadReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name?: string | undefined;
  readonly selector?: LabelSelectorObject | undefined;
}

export type ProjectionOutcome =
  | { readonly kind: "projected"; readonly workloads: number }
  | { readonly kind: "refused"; readonly reason: string; readonly message: string };

/**
 * Adds the binding to the workloads that it names, and removes it from all others that have it. Without a
 * `projection` it is removed from all. A workload that cannot be changed does not keep it from the others;
 * then the first error is thrown at the end.
 */
export async function projectBinding(
  context: ReconcileContext,
  namespace: string | undefined,
  id: string,
  reference: WorkloadReference | undefined,
  projection: Projection | undefined,
): Promise<ProjectionOutcome> {
  const wanted = reference === undefined ? undefined : workloadKindOf(reference.apiVersion, reference.kind);
  let workloads = 0;
  const refusals: string[] = [];
  const errors: unknown[] = [];
  for (const place of workloadKinds) {
    for (const object of context.list(place.kind)) {
      const isMeant = place === wanted && reference !== undefined && isNamed(object, reference);
      if (!isMeant && object.metadata.annotations?.[recordKey(id)] === undefined) continue;
      const before = boundTemplate(object, place);
      const isBound = isMeant && projection !== undefined;
      const patch = workloadPatch(
        before,
        isBound ? withBinding(before, projection) : withoutBinding(before, id),
        place,
      );
      if (isBound) workloads++;
      if (patch === undefined) continue;
      try {
        await context.patch(object, patch, { unchanged: true });
      } catch (error) {
        context.signal.throwIfAborted();
        // A Job's template can never change: the server says so, and no retry helps.
        if (!isInvalid(error)) errors.push(error);
        else if (isBound) refusals.push(`${object.kind} "${object.metadata.name}": ${error.message}`);
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  const [refusal] = refusals;
  if (refusal !== undefined) return { kind: "refused", reason: "WorkloadRefused", message: refusal };
  if (reference !== undefined && wanted === undefined) return unsupported(reference);
  return { kind: "projected", workloads };
}

function unsupported({ apiVersion, kind }: WorkloadReference): ProjectionOutcome {
  const known = workloadKinds.map((each) => each.kind.kind).join(", ");
  const message = `Cannot bind a workload of kind ${kind} in ${apiVersion}: expected one of ${known}`;
  return { kind: "refused", reason: "WorkloadKindUnsupported", message };
}

function isNamed({ metadata }: Stored<KubeObject>, { name, selector }: WorkloadReference): boolean {
  return name === undefined ? labelSelectorOf(selector).matches(metadata.labels) : metadata.name === name;
}
