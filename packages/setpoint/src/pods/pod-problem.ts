/** Why a pod does not run, from its status as the kubelet writes it, and from its Events; pure. */
import type { Container, ContainerStatus, ContainerStateTerminated, Pod } from "@setpoint/api";
import { after, endProblem, type PodProblem, wordsOf } from "./container-end.ts";
import { shortened } from "./log-excerpt.ts";

/** What a problem needs of an Event. */
export interface PodEvent {
  readonly reason: string;
  readonly message: string;
}

/** Room for the name of the pod in an Event, whose note holds 1,024 bytes. */
const messageLengthMax = 800;
const retried = "correct this, and its node tries again by itself";
/** What a kubelet reports while it has not tried yet. */
const quiet: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);
const imageReasons = /^(?:ErrImage|ImagePull|InvalidImageName|ImageInspectError|RegistryUnavailable)/;
/** Events with the reasons that a status does not show. */
const telling = /^(?:FailedMount|FailedAttachVolume|FailedMapVolume|FailedCreatePodSandBox|Unhealthy)$/;

/**
 * Undefined for a pod that runs, has succeeded, or is on its way. `events` are those of the pod, the newest
 * last; only they tell why a volume cannot be mounted.
 */
export function podProblem(pod: Pod, events: readonly PodEvent[] = []): PodProblem | undefined {
  if (pod.status?.phase === "Succeeded") return undefined;
  const found = endedByNode(pod) ?? firstOf(pod, (status) => containerProblem(pod, status, events)) ?? unscheduled(pod);
  const problem = found ?? unprepared(pod, events);
  if (problem === undefined) return undefined;
  return { ...problem, message: shortened(problem.message, messageLengthMax) };
}

/** Whether the status says less than the Events of the pod. */
export function isExplainedByEvents(pod: Pod): boolean {
  if (podProblem(pod) !== undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  return pod.status?.phase === "Pending" && pod.spec?.nodeName !== undefined;
}

function firstOf(pod: Pod, problemOf: (status: ContainerStatus) => PodProblem | undefined): PodProblem | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  for (const status of [...initContainerStatuses, ...containerStatuses]) {
    const problem = problemOf(status);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The node ended the whole pod, or did not take it. */
function endedByNode({ status }: Pod): PodProblem | undefined {
  const { phase, reason, message = "" } = status ?? {};
  if (phase !== "Failed" || reason === undefined) return undefined;
  return { reason, message: `its node ended the pod (${reason})${after(message.trim())}` };
}

function containerProblem(
  pod: Pod,
  { name, state = {}, lastState = {}, restartCount }: ContainerStatus,
  events: readonly PodEvent[],
): PodProblem | undefined {
  const container = containerNamed(pod, name);
  const { terminated, waiting } = state;
  const isLooping = waiting?.reason === "CrashLoopBackOff";
  const end = terminated ?? (isLooping ? lastState.terminated : undefined);
  if (end !== undefined && (end.exitCode !== 0 || isLooping)) {
    const problem = endProblem(pod, container, end);
    const restarts = pod.spec.restartPolicy === "Never" ? 0 : restartCount;
    const more = `${probeText(pod, end, events)}${restartText(restarts, waiting?.message)}`;
    return { ...problem, message: `${problem.message}${more}` };
  }
  return waiting?.reason === undefined ? undefined : held(pod, container, waiting.reason, waiting.message ?? "");
}

/** A node ends a container that fails its liveness probe, and the container knows nothing of it. */
function probeText(pod: Pod, { message }: ContainerStateTerminated, events: readonly PodEvent[]): string {
  const unhealthy = events.findLast(({ reason }) => reason === "Unhealthy");
  return message !== undefined || unhealthy === undefined ? "" : `; ${wordsOf(pod, unhealthy.message)}`;
}

/** By the node, which waits longer each time. */
function restartText(restarts: number, waiting = ""): string {
  if (restarts === 0) return "";
  const pause = /^back-off (\S+) /.exec(waiting)?.[1];
  return `; restarted ${restarts === 1 ? "once" : `${restarts} times`}${pause === undefined ? "" : `, the next time after ${pause}`}`;
}

/** A container that its node cannot start. */
function held(pod: Pod, container: Container, reason: string, message: string): PodProblem | undefined {
  if (quiet.has(reason)) return message === "" ? undefined : volumeProblem(wordsOf(pod, message));
  const words = wordsOf(pod, message.replace(/^Back-off pulling image "[^"]*": (?:ErrImagePull: )?/, ""));
  if (imageReasons.test(reason))
    return {
      reason: "ImageUnavailable",
      message: `image "${container.image ?? ""}" of container "${container.name}" is not available (${reason})${after(words)}; correct its name, or let the node pull it`,
    };
  return { reason, message: `container "${container.name}" cannot be created (${reason})${after(words)}; ${retried}` };
}

function unscheduled({ status }: Pod): PodProblem | undefined {
  const found = status?.conditions?.find((each) => each.type === "PodScheduled" && each.status === "False");
  if (found?.message === undefined) return undefined;
  return { reason: found.reason ?? "Unschedulable", message: `no node takes the pod: ${found.message}` };
}

function unprepared(pod: Pod, events: readonly PodEvent[]): PodProblem | undefined {
  const event = isPending(pod) ? events.findLast(({ reason }) => telling.test(reason)) : undefined;
  return event === undefined ? undefined : volumeProblem(wordsOf(pod, event.message), event.reason);
}

function volumeProblem(words: string, reason = "FailedMount"): PodProblem {
  return { reason, message: `its node cannot prepare the pod: ${words}; ${retried}` };
}

function isPending({ status }: Pod): boolean {
  return status?.phase === "Pending";
}

function containerNamed({ spec }: Pod, name: string): Container {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return all.find((each) => each.name === name) ?? { name };
}
