/** Sentences for the author of a pod: which of its fields this node refuses or ignores. */
import type { Container, PodSpec } from "@setpoint/api";
import { ignoredFields } from "./ignored-fields.ts";
import { type PodRights, refusedFields } from "./refusals.ts";

/** Sentences, each with what to do; none for a pod that this node runs as it is written. */
export function podNotices(spec: PodSpec, rights: PodRights = {}): readonly string[] {
  const containers: readonly Container[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return [
    ...refusedFields(spec, containers, rights).map(
      ({ where, field, reason, advice }) =>
        `The pod will not start: ${where} asks for ${field}, but ${reason}; ${advice}`,
    ),
    ...ignoredFields(spec, containers).map(
      ({ path, reason }) => `${path} has no effect: ${reason}; remove the field, or run the pod on another cluster`,
    ),
  ];
}
