/** The status of a pod, computed from its containers: pure. */
import type { ContainerStatus, Pod, PodCondition, PodStatus } from "@setpoint/api";
import { isSidecar } from "../cluster/pod.ts";

/** The status of a container as this node reports it: both states are always set. */
export type ReportedStatus = ContainerStatus & Required<Pick<ContainerStatus, "state" | "lastState">>;

export interface PodStatusInput {
  readonly pod: Pod;
  readonly now: string;
  readonly hostIP: string;
  /** Absent until the pod's sandbox is prepared. */
  readonly podIP?: string;
  readonly containers: readonly ReportedStatus[];
  readonly initContainers: readonly ReportedStatus[];
  /** Why its control groups are not as its resources are now; absent: they are. */
  readonly resizeProblem?: string;
  /** Absent: none. */
  readonly ephemeralContainers?: readonly ReportedStatus[];
}

export function podStatus(input: PodStatusInput): PodStatus {
  const { pod, now, hostIP, podIP } = input;
  const phase = podPhase(input);
  return {
    ...pod.status,
    ...observed(pod),
    phase,
    conditions: conditions(input, phase),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: pod.status?.startTime ?? now,
    ...(input.initContainers.length > 0 ? { initContainerStatuses: initStatuses(input) } : {}),
    containerStatuses: input.containers,
    ...ephemeralStatuses(input.ephemeralContainers ?? []),
  };
}

/** What has one end is ready when it has ended well. */
function initStatuses({ pod, initContainers }: PodStatusInput): ReportedStatus[] {
  return initContainers.map((status) =>
    isNamedSidecar(pod, status.name) ? status : { ...status, ready: status.state.terminated?.exitCode === 0 },
  );
}

/** Ephemeral containers have no probes and no resources, and are never ready. */
function ephemeralStatuses(statuses: readonly ReportedStatus[]): Pick<PodStatus, "ephemeralContainerStatuses"> {
  if (statuses.length === 0) return {};
  return { ephemeralContainerStatuses: statuses.map(ephemeralStatus) };
}

function ephemeralStatus(status: ReportedStatus): ReportedStatus {
  const { resources: _, allocatedResources: _allocated, ...shown } = status;
  return { ...shown, ready: false };
}

/** Why a node ends a pod: it used too much of the node, has run as long as it may, or was never admitted. */
export interface PodEnding {
  readonly reason: "Evicted" | "DeadlineExceeded" | "NodePorts";
  readonly message: string;
}

/** Of a pod that its node has ended. */
export function endedStatus(status: PodStatus, { reason, message }: PodEnding, now: string): PodStatus {
  const failed = { ...status, phase: "Failed", reason, message } as const;
  return reason === "Evicted" ? withDisruption(failed, message, now) : failed;
}

function withDisruption(status: PodStatus, message: string, now: string): PodStatus {
  const disruption: PodCondition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "TerminationByKubelet",
    message,
    lastTransitionTime: now,
  };
  const others = (status.conditions ?? []).filter(({ type }) => type !== disruption.type);
  return { ...status, conditions: [...others, disruption] };
}

type Phase = NonNullable<PodStatus["phase"]>;

/**
 * Pending until all init containers are done and every container has started once; a phase that is over
 * stays.
 */
export function podPhase({
  pod,
  containers,
  initContainers,
}: Pick<PodStatusInput, "pod" | "containers" | "initContainers">): Phase {
  const before = pod.status?.phase;
  if (before === "Succeeded" || before === "Failed") return before;
  const policy = pod.spec.restartPolicy ?? "Always";
  const isOver = ({ state }: ReportedStatus): boolean =>
    state.terminated !== undefined && !restarts(policy, state.terminated.exitCode);
  const steps = initContainers.filter(({ name }) => !isNamedSidecar(pod, name));
  if (steps.some((status) => isOver(status) && status.state.terminated?.exitCode !== 0)) return "Failed";
  if (containers.length > 0 && containers.every((status) => isOver(status))) {
    return containers.every(({ state }) => state.terminated?.exitCode === 0) ? "Succeeded" : "Failed";
  }
  const hasStarted = ({ state, lastState }: ReportedStatus): boolean =>
    state.running !== undefined || state.terminated !== undefined || lastState.terminated !== undefined;
  return containers.length > 0 && containers.every(hasStarted) ? "Running" : "Pending";
}

/** Whether a container that ended with `exitCode` starts again. */
export function restarts(policy: "Always" | "OnFailure" | "Never", exitCode: number): boolean {
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

export function isInitialized(pod: Pod, initContainers: readonly ReportedStatus[]): boolean {
  return initContainers.every((status) =>
    isNamedSidecar(pod, status.name) ? status.started === true : status.state.terminated?.exitCode === 0,
  );
}

function isNamedSidecar(pod: Pod, name: string): boolean {
  return pod.spec.initContainers?.some((container) => container.name === name && isSidecar(container)) ?? false;
}

function conditions(input: PodStatusInput, phase: Phase): PodCondition[] {
  const { pod, now } = input;
  const isOver = phase === "Succeeded" || phase === "Failed";
  const over = { status: "False", reason: phase === "Failed" ? "PodFailed" : "PodCompleted" } as const;
  const initialized = initialCondition(input, phase);
  const ready = isOver ? over : containersReady(input);
  const own: Record<string, Omit<PodCondition, "type">> = {
    PodReadyToStartContainers: { status: input.podIP !== undefined && !isOver ? "True" : "False" },
    Initialized: initialized,
    Ready: ready.status === "True" ? gatesReady(pod) : ready,
    ContainersReady: ready,
    PodScheduled: { status: "True" },
    ...resizing(input),
  };
  const before = new Map((pod.status?.conditions ?? []).map((condition) => [condition.type, condition]));
  const computed = Object.entries(own).map(([type, condition]) =>
    transition(before.get(type), { type, ...condition }, pod, now),
  );
  const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !(type in own) && type !== resizeCondition);
  return [...computed, ...foreign];
}

const resizeCondition = "PodResizeInProgress";

function resizing({ resizeProblem: message }: PodStatusInput): Record<string, Omit<PodCondition, "type">> {
  return message === undefined ? {} : { [resizeCondition]: { status: "True", reason: "Error", message } };
}

function initialCondition({ pod, initContainers }: PodStatusInput, phase: Phase): Omit<PodCondition, "type"> {
  if (phase === "Succeeded") return { status: "True", reason: "PodCompleted" };
  if (isInitialized(pod, initContainers)) return { status: "True" };
  const waiting = initContainers.filter(({ state }) => state.terminated?.exitCode !== 0).map(({ name }) => name);
  return {
    status: "False",
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: [${waiting.join(" ")}]`,
  };
}

function containersReady({ containers, initContainers, pod }: PodStatusInput): Omit<PodCondition, "type"> {
  const sidecars = initContainers.filter(({ name }) => isNamedSidecar(pod, name));
  const unready = [...sidecars, ...containers].filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { status: "True" };
  return {
    status: "False",
    reason: "ContainersNotReady",
    message: `containers with unready status: [${unready.join(" ")}]`,
  };
}

function gatesReady(pod: Pod): Omit<PodCondition, "type"> {
  const conditionsNow = pod.status?.conditions ?? [];
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = conditionsNow.find(({ type }) => type === conditionType);
    if (condition?.status === "True") return [];
    const state = condition === undefined ? "does not exist" : `has status "${condition.status}"`;
    return [`corresponding condition of pod readiness gate "${conditionType}" ${state}.`];
  });
  return messages.length === 0
    ? { status: "True" }
    : { status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") };
}

/** The time of a condition changes only with its status. */
function transition(before: PodCondition | undefined, condition: PodCondition, pod: Pod, now: string): PodCondition {
  const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined;
  return {
    ...condition,
    ...observed(pod),
    lastTransitionTime: isSame ? (before.lastTransitionTime ?? now) : now,
  };
}

function observed({ metadata: { generation } }: Pod): { readonly observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}
