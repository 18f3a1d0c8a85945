/** The interfaces between a world and the models of programs and other systems (etcd, …). */
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

/** What every model of a world may have. */
export interface WorldModel {
  /** Called once, before anything is started. */
  attach?(host: Host): void;
  /**
   * The data that the system has, as JSON values by name: records, users, orders. At the end of each run the
   * laws compare it with that of the run without faults. Leave out times and counters, and sort what has no
   * order.
   */
  data?(): Readonly<Record<string, unknown>>;
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

/** Simulates what the containers of some images do. */
export interface ProgramModel extends WorldModel {
  runs(image: string): boolean;
  start(launch: Launch): Program;
}

/** Simulates a system outside of the cluster, which the operator calls. */
export interface OutsideModel extends WorldModel {
  data(): Readonly<Record<string, unknown>>;
}

export function isProgramModel(model: WorldModel): model is ProgramModel {
  return "runs" in model;
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
