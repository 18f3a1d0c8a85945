/** What a node says of a pod, from what it knows of its containers; pure. */
import type { PodStatus } from "@setpoint/api";
import { timestampAt } from "@setpoint/host";

export interface ContainerFacts {
  readonly name: string;
  readonly image: string;
  readonly state:
    | { readonly kind: "waiting" }
    | { readonly kind: "running" }
    | { readonly kind: "terminated"; readonly code: number; readonly message: string; readonly finishedMs: number };
  readonly isReady: boolean;
  readonly restarts: number;
  readonly startedMs: number;
}

export interface PodFacts {
  readonly uid: string;
  readonly podIp: string;
  readonly startedMs: number;
  readonly nowMs: number;
  readonly restartPolicy: string;
  readonly containers: readonly ContainerFacts[];
  readonly initContainers: readonly ContainerFacts[];
}

const nodeIp = "10.0.0.1";

export function podStatus(facts: PodFacts, before: PodStatus | undefined): PodStatus {
  const { podIp, startedMs, nowMs, containers, initContainers } = facts;
  const isReady = containers.every((each) => each.isReady);
  const condition = (type: string, isTrue: boolean): NonNullable<PodStatus["conditions"]>[number] => {
    const status = isTrue ? "True" : "False";
    const same = before?.conditions?.find((each) => each.type === type && each.status === status);
    return { type, status, lastTransitionTime: same?.lastTransitionTime ?? timestampAt(nowMs) };
  };
  return {
    phase: phaseOf(facts),
    hostIP: nodeIp,
    hostIPs: [{ ip: nodeIp }],
    podIP: podIp,
    podIPs: [{ ip: podIp }],
    startTime: timestampAt(startedMs),
    conditions: [
      condition("PodScheduled", true),
      condition("Initialized", initContainers.every(hasSucceeded)),
      condition("ContainersReady", isReady),
      condition("Ready", isReady),
    ],
    containerStatuses: containers.map((container) => containerStatus(container, facts.uid)),
    ...(initContainers.length === 0
      ? {}
      : { initContainerStatuses: initContainers.map((container) => containerStatus(container, facts.uid)) }),
  };
}

function hasSucceeded({ state }: ContainerFacts): boolean {
  return state.kind === "terminated" && state.code === 0;
}

function phaseOf({ containers, initContainers, restartPolicy }: PodFacts): NonNullable<PodStatus["phase"]> {
  const isBroken = initContainers.some((each) => each.state.kind === "terminated" && !hasSucceeded(each));
  if (isBroken && restartPolicy === "Never") return "Failed";
  const ends = containers.flatMap(({ state }) => (state.kind === "terminated" ? [state.code] : []));
  const isFinal = restartPolicy === "Never" || (restartPolicy === "OnFailure" && ends.every((code) => code === 0));
  if (isFinal && containers.length > 0 && ends.length === containers.length)
    return ends.every((code) => code === 0) ? "Succeeded" : "Failed";
  return containers.some(({ state }) => state.kind === "waiting") ? "Pending" : "Running";
}

function containerStatus(container: ContainerFacts, uid: string): NonNullable<PodStatus["containerStatuses"]>[number] {
  const { name, image, state, isReady, restarts } = container;
  return {
    name,
    image,
    imageID: image,
    ready: isReady,
    restartCount: restarts,
    containerID: `simulated://${uid}/${name}/${restarts}`,
    started: state.kind === "running",
    state: stateOf(container),
  };
}

function stateOf({
  state,
  startedMs,
}: ContainerFacts): NonNullable<NonNullable<PodStatus["containerStatuses"]>[number]["state"]> {
  if (state.kind === "waiting") return { waiting: { reason: "ContainerCreating" } };
  if (state.kind === "running") return { running: { startedAt: timestampAt(startedMs) } };
  const { code, message, finishedMs } = state;
  return {
    terminated: {
      exitCode: code,
      reason: code === 0 ? "Completed" : "Error",
      startedAt: timestampAt(startedMs),
      finishedAt: timestampAt(finishedMs),
      ...(message === "" ? {} : { message }),
    },
  };
}
