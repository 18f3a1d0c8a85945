/** Reads how a transfer ended from the status of its pod; pure. */
import type { Pod } from "setpoint/kinds";
import { agentResult, type AgentResult } from "../agent/request.ts";

type Failed = Extract<AgentResult, { outcome: "failed" }>;
type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

/** The result of a pod that has ended; undefined while it may still end well. */
export function transferResult(pod: Pod): AgentResult | undefined {
  const { phase } = pod.status ?? {};
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  const messages = statusesOf(pod).flatMap(({ state }) => state?.terminated?.message ?? []);
  const results = messages.map(parsed).filter((each) => each !== undefined);
  const failed = results.find(({ outcome }) => outcome === "failed");
  if (failed !== undefined) return failed;
  const [done] = results;
  return phase === "Succeeded" && done !== undefined ? done : noResult(pod);
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

/** Why a pod does not run yet, in the words of its own status. */
export function podReason(pod: Pod): string {
  const waiting = statusesOf(pod).flatMap(({ state }) => state?.waiting ?? [])[0];
  if (waiting?.reason !== undefined && waiting.reason !== "PodInitializing" && waiting.reason !== "ContainerCreating")
    return ` (${waiting.reason}${waiting.message === undefined ? "" : `: ${waiting.message}`})`;
  const unscheduled = pod.status?.conditions?.find((each) => each.type === "PodScheduled" && each.status === "False");
  return unscheduled?.message === undefined ? "" : ` (${unscheduled.message})`;
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

function noResult(pod: Pod): Failed {
  const { reason, message } = pod.status ?? {};
  const ended = statusesOf(pod).flatMap(({ name, state }) =>
    state?.terminated === undefined || state.terminated.exitCode === 0 ? [] : [{ name, ...state.terminated }],
  )[0];
  if (reason === "DeadlineExceeded") return failed("DeadlineExceeded", `pod "${nameOf(pod)}" exceeded its deadline`);
  if (ended === undefined)
    return failed(
      "NoResult",
      `pod "${nameOf(pod)}" ended without a result${message === undefined ? "" : `: ${message}`}`,
    );
  const words = ended.message === undefined || ended.message === "" ? (ended.reason ?? "") : ended.message;
  return failed(
    "NoResult",
    `container "${ended.name}" of pod "${nameOf(pod)}" ended with exit code ${ended.exitCode}${words === "" ? "" : `: ${words}`}`,
  );
}

function nameOf({ metadata }: Pod): string {
  return metadata.name ?? "";
}

function failed(reason: string, message: string): Failed {
  return { outcome: "failed", reason, message, retry: true };
}
