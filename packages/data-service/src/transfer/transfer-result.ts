/** Reads how a transfer ended from the status of its pod; pure. */
import type { Pod } from "setpoint/kinds";
import { podProblem } from "setpoint/pods";
import { agentResult, type AgentResult } from "../agent/request.ts";

type Failed = Extract<AgentResult, { outcome: "failed" }>;
type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

/** The result of a pod that has ended; undefined while it may still end well. */
export function transferResult(pod: Pod): AgentResult | undefined {
  return hasEnded(pod) ? (reportedResult(pod) ?? noResult(pod)) : undefined;
}

/** What the agent in a pod that has ended reported of itself. */
export function reportedResult(pod: Pod): AgentResult | undefined {
  if (!hasEnded(pod)) return undefined;
  const messages = statusesOf(pod).flatMap(({ state }) => state?.terminated?.message ?? []);
  const results = messages.map(parsed).filter((each) => each !== undefined);
  const failed = results.find(({ outcome }) => outcome === "failed");
  return failed ?? (pod.status?.phase === "Succeeded" ? results[0] : undefined);
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** When its last container ended, by the node's clock. */
export function endedAtMs(pod: Pod): number | undefined {
  const times = statusesOf(pod).flatMap(({ state }) => state?.terminated?.finishedAt ?? []);
  return times.length === 0 ? undefined : Math.max(...times.map((each) => Date.parse(each)));
}

/** A pod that is gone, or is being deleted without a result. */
export function lostTransfer(name: string): Failed {
  return failed("PodLost", `pod "${name}" was deleted before it reported a result`);
}

/** A pod of this name belongs to another object; the next attempt has another name. */
export function takenName(name: string): Failed {
  return failed("NameTaken", `pod "${name}" exists already and belongs to another object`);
}

/** Whether a container of the pod runs, or has run. */
export function hasStarted(pod: Pod): boolean {
  return statusesOf(pod).some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
}

/** Why a pod does not run, in parentheses; empty when its status does not say. */
export function podReason(pod: Pod): string {
  const problem = podProblem(pod);
  return problem === undefined ? "" : ` (${problem.message})`;
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/** Whatever is no result of the agent counts as none: a pod's other programs end with their own messages. */
function parsed(message: string): AgentResult | undefined {
  try {
    return agentResult.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** The program did not report how it ended, so the pod says it. */
function noResult(pod: Pod): Failed {
  const problem = podProblem(pod);
  if (problem === undefined) return failed("NoResult", `pod "${nameOf(pod)}" ended without a result`);
  const { reason, message } = problem;
  return failed(reason === "ContainerFailed" ? "NoResult" : reason, `pod "${nameOf(pod)}": ${message}`);
}

function nameOf({ metadata }: Pod): string {
  return metadata.name ?? "";
}

function failed(reason: string, message: string): Failed {
  return { outcome: "failed", reason, message, retry: true };
}
