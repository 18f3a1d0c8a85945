/** What a failed pod means for its Job, by `spec.podFailurePolicy`: the first rule that matches decides. */
import type { Job, Pod, PodFailurePolicyRule } from "@setpoint/api";

/** The action of the rule that matched, and why; without a rule a failure counts. */
export interface FailureVerdict {
  readonly action: PodFailurePolicyRule["action"];
  readonly message: string;
}

const counts: FailureVerdict = { action: "Count", message: "" };

/** Rules look at failed pods alone: one that is only being deleted has no exit codes yet. */
export function judgeFailure(job: Job, pod: Pod): FailureVerdict {
  if (pod.status?.phase !== "Failed") return counts;
  for (const [i, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const match = exitCodeMatch(rule, pod) ?? conditionMatch(rule, pod);
    if (match !== undefined)
      return { action: rule.action, message: `${match} matching ${rule.action} rule at index ${i}` };
  }
  return counts;
}

function exitCodeMatch({ onExitCodes }: PodFailurePolicyRule, { metadata, status }: Pod): string | undefined {
  if (onExitCodes === undefined) return undefined;
  const { containerName, operator, values } = onExitCodes;
  const containers = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  for (const { name, state } of containers) {
    const exitCode = state?.terminated?.exitCode ?? 0;
    const isMeant = containerName === undefined || containerName === name;
    if (!isMeant || exitCode === 0 || values.includes(exitCode) !== (operator === "In")) continue;
    return `Container ${name} for pod ${metadata.namespace}/${metadata.name} failed with exit code ${exitCode}`;
  }
  return undefined;
}

function conditionMatch({ onPodConditions = [] }: PodFailurePolicyRule, { metadata, status }: Pod): string | undefined {
  const found = status?.conditions?.find((condition) =>
    onPodConditions.some((wanted) => wanted.type === condition.type && (wanted.status ?? "True") === condition.status),
  );
  return found && `Pod ${metadata.namespace}/${metadata.name} has condition ${found.type}`;
}
