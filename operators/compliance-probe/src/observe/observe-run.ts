/** A pod of a run as facts. */
import type { Stored } from "setpoint";
import type { Pod } from "setpoint/kinds";
import { podProblem } from "setpoint/pods";
import type { Attempt } from "../acts/act.ts";
import { parseReport } from "../run/probe-report.ts";
import { requestedBy, runNumber, specGeneration } from "../run/probe-pod.ts";
import type { SeenRun } from "../seen/seen.ts";

type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

export function observeRun(pod: Stored<Pod>): SeenRun {
  const { name, uid, annotations = {}, creationTimestamp, deletionTimestamp } = pod.metadata;
  const containers = pod.status?.containerStatuses ?? [];
  const reports = containers.map((each) => parseReport(each.state?.terminated?.message ?? ""));
  return {
    name,
    uid,
    number: Number(annotations[runNumber] ?? 0),
    generation: Number(annotations[specGeneration] ?? 0),
    requested: annotations[requestedBy],
    startedAt: creationTimestamp,
    isDeleting: deletionTimestamp !== undefined,
    finishedAt: hasEnded(pod) ? (lastEnd(containers) ?? creationTimestamp) : undefined,
    attempts: new Map(reports.flatMap((each): (readonly [string, Attempt])[] => [...(each ?? [])])),
    problem: problemOf(pod, containers),
  };
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function lastEnd(containers: readonly ContainerStatus[]): string | undefined {
  return containers
    .flatMap(({ state }) => state?.terminated?.finishedAt ?? [])
    .toSorted()
    .at(-1);
}

/** Of a pod that ended: its reason, and the containers that reported nothing or not all. */
function problemOf(pod: Stored<Pod>, containers: readonly ContainerStatus[]): string | undefined {
  const failed = containers.flatMap(({ name, state }) => {
    const { exitCode, reason = "Error" } = state?.terminated ?? { exitCode: 0 };
    return exitCode === 0 ? [] : [`container "${name}" ended with exit code ${exitCode} (${reason})`];
  });
  if (failed.length > 0) return [pod.status?.message, ...failed].filter((each) => each !== undefined).join("; ");
  return podProblem(pod)?.message ?? pod.status?.message;
}
