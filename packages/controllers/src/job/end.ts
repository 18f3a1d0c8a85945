/** Whether a Job has met its end, and with which condition. */
import type { SuccessPolicyRule } from "@setpoint/api";
import type { Counted } from "./count.ts";
import { parseIndexes } from "./indexes.ts";
import { isIndexed, type SeenJob } from "./seen.ts";

/** How it ends: `SuccessCriteriaMet` and then `Complete`, or `FailureTarget` and then `Failed`. */
export interface JobEnd {
  readonly outcome: "succeeded" | "failed";
  readonly reason: string;
  readonly message: string;
}

const backoffLimitDefault = 6;

/** The end that was found by an earlier pass, or else by this one. */
export function endOf(seen: SeenJob, counted: Counted): JobEnd | undefined {
  return metEnd(seen) ?? failureOf(seen, counted) ?? successOf(seen, counted);
}

/** The end that the status has already. */
export function metEnd({ job }: SeenJob): JobEnd | undefined {
  for (const [type, outcome] of [
    ["SuccessCriteriaMet", "succeeded"],
    ["FailureTarget", "failed"],
  ] as const) {
    const found = job.status?.conditions?.find((each) => each.type === type && each.status === "True");
    if (found !== undefined) return { outcome, reason: found.reason ?? "", message: found.message ?? "" };
  }
  return undefined;
}

/** The first that holds, in upstream's order. */
function failureOf(seen: SeenJob, counted: Counted): JobEnd | undefined {
  const { spec } = seen.job;
  const fatal = seen.pods.find(({ tracked, verdict }) => tracked && verdict?.action === "FailJob");
  if (fatal?.verdict !== undefined) return failed("PodFailurePolicy", fatal.verdict.message);
  if (isBackoffLimitExceeded(seen, counted))
    return failed("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (msUntilDeadline(seen) === 0) return failed("DeadlineExceeded", "Job was active longer than specified deadline");
  const { size } = counted.failedIndexes;
  if (spec?.maxFailedIndexes !== undefined && size > spec.maxFailedIndexes)
    return failed("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  if (size > 0 && size + counted.succeeded >= (spec?.completions ?? 0))
    return failed("FailedIndexes", "Job has failed indexes");
  return undefined;
}

function failed(reason: string, message: string): JobEnd {
  return { outcome: "failed", reason, message };
}

/** Containers that are restarted in their pod count as failures of the Job, too. */
function isBackoffLimitExceeded({ job, pods }: SeenJob, { failed: failures }: Counted): boolean {
  const { backoffLimit = backoffLimitDefault, template } = job.spec ?? {};
  if (failures > backoffLimit) return true;
  if (template?.spec?.restartPolicy !== "OnFailure") return false;
  const restarts = pods.filter(({ outcome }) => outcome === undefined).reduce((sum, pod) => sum + pod.restarts, 0);
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

/** Milliseconds that the Job may still be active; 0 when none, undefined without a limit. */
export function msUntilDeadline({ job, nowMs }: SeenJob): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec ?? {};
  if (activeDeadlineSeconds === undefined || suspend === true) return undefined;
  const { startTime } = job.status ?? {};
  const startMs = startTime === undefined ? nowMs : Date.parse(startTime);
  return Math.max(0, startMs + activeDeadlineSeconds * 1_000 - nowMs);
}

function successOf(seen: SeenJob, counted: Counted): JobEnd | undefined {
  const { completions, successPolicy } = seen.job.spec ?? {};
  const rule = isIndexed(seen.job)
    ? (successPolicy?.rules ?? []).findIndex((each) => isMet(each, counted.succeededIndexes))
    : -1;
  if (rule !== -1) return { outcome: "succeeded", reason: "SuccessPolicy", message: `Matched rules at index ${rule}` };
  const isActive = seen.pods.some(({ outcome, terminating }) => outcome === undefined && !terminating);
  const isReached = completions === undefined ? counted.succeeded > 0 && !isActive : counted.succeeded >= completions;
  if (!isReached) return undefined;
  return { outcome: "succeeded", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}

function isMet({ succeededIndexes, succeededCount }: SuccessPolicyRule, succeeded: ReadonlySet<number>): boolean {
  if (succeededIndexes === undefined) return succeeded.size >= (succeededCount ?? Infinity);
  const wanted = [...parseIndexes(succeededIndexes)];
  return wanted.filter((index) => succeeded.has(index)).length >= (succeededCount ?? wanted.length);
}
