/** The interface between the node model and the models of programs (etcd, …). */
import type { Host } from "@setpoint/host";

/**
 * The data of a program on a volume, by path below the mount. It survives the program, and is gone with the
 * volume.
 */
export interface SimulatedVolume {
  readonly id: string;
  readonly files: Map<string, unknown>;
}

/** Everything with which a container's process starts. */
export interface Launch {
  readonly host: Host;
  readonly image: string;
  /** Command and arguments, with `$(NAME)` filled in. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly podName: string;
  readonly podIp: string;
  /** The names by which cluster DNS finds the pod. */
  readonly hostNames: readonly string[];
  /** By mount path. */
  readonly volumes: ReadonlyMap<string, SimulatedVolume>;
  /** Call it once, when the process has ended by itself or by a signal. */
  exited(code: number, message?: string): void;
  /** Call it when the result of a readiness probe changes. */
  ready(isReady: boolean): void;
}

/** A running process. */
export interface Program {
  /** SIGTERM: ends soon, by itself. */
  terminate(): void;
  /** SIGKILL: `exited` follows at once. */
  kill(): void;
}

/** What no operator can repair. */
export interface BeyondRepair {
  readonly sentence: string;
  /** How many members lost their data. */
  readonly membersLost: number;
}

/** Simulates what the containers of some images do. */
export interface ProgramModel {
  /** Called once, before anything is started. */
  attach?(host: Host): void;
  runs(image: string): boolean;
  start(launch: Launch): Program;
  /** An actor that need not obey the rules, not an operator, stops this pod, or every pod that runs now. */
  forgive?(podName?: string): void;
  /**
   * A process was stopped without notice: an actor that stops another one at the same moment could not know.
   */
  surprised?(): void;
  /** Set when so much data is gone that the rest never has a quorum again, and only a person can help. */
  readonly beyondRepair?: BeyondRepair | undefined;
  /** Sentences about safety rules that were broken so far; a world does not settle with any. */
  readonly violations?: readonly string[];
}

const killedCode = 137;

/** A process that is ready at once and does nothing until it is stopped. */
export const idleProgram: ProgramModel = {
  runs: () => true,
  start(launch) {
    launch.ready(true);
    return { terminate: () => launch.exited(0), kill: () => launch.exited(killedCode) };
  },
};
