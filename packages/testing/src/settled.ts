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
  const what = `${object.kind} "${name}"`;
  const progressing = underWay(object);
  if (progressing !== undefined) {
    const since = waitingFor?.since === undefined ? "" : ` since ${waitingFor.since}`;
    const text = waitingFor?.what ?? progressing.message;
    return `${what} is progressing (${progressing.reason}): ${text}${since}${stallsAdvice(progressing)}`;
  }
  const seen = observedGeneration ?? conditionOf(object, "Progressing")?.observedGeneration;
  if (seen !== undefined && generation !== undefined && seen < generation)
    return `${what} has generation ${generation}, and its status is of ${seen}`;
  return undefined;
}

/** A Deployment that is complete says that it progresses, with this reason. */
const finishedReasons: ReadonlySet<string> = new Set(["NewReplicaSetAvailable"]);

/**
 * What a plan, declared conditions (as kstatus reads them) and durable steps say while they are not finished.
 */
function underWay(object: KubeObject): Condition | undefined {
  const unfinished = { Progressing: "True", Reconciling: "True", StepsDone: "False" };
  return Object.entries(unfinished)
    .map(([type, status]) => {
      const found = conditionOf(object, type);
      return found?.status === status && !finishedReasons.has(found.reason) ? found : undefined;
    })
    .find((each) => each !== undefined);
}

/** A declared condition that is not good counts as work, until its author says that it is none. */
function stallsAdvice({ type, reason }: Condition): string {
  if (type !== "Reconciling") return "";
  return `; if a person must act first, name "${reason}" in \`stalls\` of its condition in declareConditions`;
}

function statusOf(object: KubeObject): Status {
  return (object as { readonly status?: Status }).status ?? {};
}
