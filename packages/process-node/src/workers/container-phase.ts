import type { ContainerState, ContainerStateTerminated, ContainerStatus, ResourceRequirements } from "@setpoint/api";
import { timestamp, type Clock } from "@setpoint/host";
import type { Prober } from "../probes/prober.ts";
import type { RunningContainer } from "../sandbox/container-runtime.ts";

export interface WaitingPhase {
  readonly kind: "waiting";
  readonly reason: string;
  readonly message?: string;
  /** On the monotonic clock. */
  readonly notBeforeMs: number;
}

export interface RunningPhase {
  readonly kind: "running";
  readonly running: RunningContainer;
  readonly prober: Prober;
  readonly startedAt: string;
  readonly image: string;
  /** That its control group has. */
  readonly resources: ResourceRequirements;
}

export interface TerminatedPhase {
  readonly kind: "terminated";
  readonly state: ContainerStateTerminated;
  /** On the monotonic clock. */
  readonly restartAfterMs: number;
}

export type ContainerPhase =
  | WaitingPhase
  | { readonly kind: "starting"; readonly reason: string; readonly message?: string }
  | RunningPhase
  | TerminatedPhase;

/** The phase as the status of the container shows it. */
export function containerState(phase: ContainerPhase): ContainerState {
  if (phase.kind === "running") return { running: { startedAt: phase.startedAt } };
  if (phase.kind === "terminated") return { terminated: phase.state };
  return { waiting: { reason: phase.reason, ...(phase.message === undefined ? {} : { message: phase.message }) } };
}

/** What is known of a container before its worker starts it. */
export interface ContainerHistory {
  readonly phase: ContainerPhase;
  readonly lastState: ContainerState;
  readonly restartCount: number;
  /** Of the last run; -1 before the first. */
  readonly attempt: number;
  readonly imageId: string;
  readonly containerId: string | undefined;
}

export function noHistory(creatingReason: string): ContainerHistory {
  return {
    phase: waitingFor(creatingReason),
    lastState: {},
    restartCount: 0,
    attempt: -1,
    imageId: "",
    containerId: undefined,
  };
}

export function waitingFor(reason: string, message?: string): WaitingPhase {
  return { kind: "waiting", reason, ...(message === undefined ? {} : { message }), notBeforeMs: 0 };
}

/** From the status that an earlier agent reported. A container that was running then counts as killed. */
export function recordedHistory(recorded: ContainerStatus, clock: Clock, creatingReason: string): ContainerHistory {
  const { containerID, imageID, lastState = {}, restartCount } = recorded;
  const { running, terminated } = recorded.state ?? {};
  const ended =
    terminated ?? (running === undefined ? undefined : killedWithNode(running.startedAt, containerID, clock));
  const state = ended ?? lastState.terminated;
  return {
    phase: state === undefined ? waitingFor(creatingReason) : { kind: "terminated", state, restartAfterMs: 0 },
    lastState,
    restartCount,
    attempt: ended === undefined ? restartCount - 1 : restartCount,
    imageId: imageID,
    containerId: containerID?.replace("process://", ""),
  };
}

function killedWithNode(
  startedAt: string | undefined,
  containerID: string | undefined,
  clock: Clock,
): ContainerStateTerminated {
  return {
    exitCode: 137,
    reason: "Error",
    message: "The node stopped, and its containers with it",
    ...(startedAt === undefined ? {} : { startedAt }),
    finishedAt: timestamp(clock),
    ...(containerID === undefined ? {} : { containerID }),
  };
}
