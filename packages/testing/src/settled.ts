/** Whether an object says of itself that it is as its spec wants it. */
import type { Condition, KubeObject } from "@setpoint/apimachinery";

interface Status {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly waitingFor?: { readonly what?: string; readonly since?: string };
}

/** The condition of this type, if the object has it. */
export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  return statusOf(object).conditions?.find((each) => each.type === type);
}

/** Undefined when it is settled, else a sentence. */
export function unsettledReason(object: KubeObject): string | undefined {
  const { name, generation } = object.metadata;
  const { observedGeneration, waitingFor } = statusOf(object);
  const progressing = conditionOf(object, "Progressing");
  const what = `${object.kind} "${name}"`;
  if (progressing?.status === "True") {
    const since = waitingFor?.since === undefined ? "" : ` since ${waitingFor.since}`;
    return `${what} is progressing (${progressing.reason}): ${waitingFor?.what ?? progressing.message}${since}`;
  }
  const seen = observedGeneration ?? progressing?.observedGeneration;
  if (seen !== undefined && generation !== undefined && seen < generation)
    return `${what} has generation ${generation}, and its status is of ${seen}`;
  return undefined;
}

function statusOf(object: KubeObject): Status {
  return (object as { readonly status?: Status }).status ?? {};
}
