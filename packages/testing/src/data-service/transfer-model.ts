/**
 * A model of the agent in transfer pods: it moves snapshots between models of engines and a store in memory.
 */
import { type Host, timestampAt } from "@setpoint/host";
import { type ProbeRequest, type SimulatedValues, startProbe } from "./simulated-probe.ts";
import { idleProgram, type Launch, type Program, type ProgramModel } from "../program-model.ts";
import { copyFiles } from "./copied-files.ts";
import { BackupVault, sha256Of, TransferFailure } from "./backup-vault.ts";

/** One consistent copy of the data of a simulated instance. */
export interface SimulatedSnapshot {
  readonly data: string;
  readonly position: string;
  readonly engineVersion: string;
  /** Where the engine's log goes on from it. */
  readonly log?: object | undefined;
}

/** How a restore gets to its target, as the agent reports it. */
export interface SimulatedWay {
  readonly way: { readonly object: string; readonly [fact: string]: unknown };
  /** What the engine's tool finds in the folder `replay` of the claim. */
  readonly files: ReadonlyMap<string, unknown>;
}

/** The archived logs of a simulated engine. Throws a `TransferFailure` when no way leads to the target. */
export type WayFinder = (request: WayRequest, vault: BackupVault) => SimulatedWay;

/** A request for the way to a target; `@setpoint/data-service/agent` has the whole protocol. */
export interface WayRequest {
  readonly task: "verifyWay" | "fetchWay";
  readonly engine: string;
  readonly folder: string;
  readonly base?: string;
  readonly target?: { readonly kind: "time" | "position" | "name" | "transaction"; readonly value: string };
  readonly timeline?: number;
}

/** How the model of an engine gives its data; throws when the instance does not answer. */
export type SnapshotOrigin = (source: unknown) => SimulatedSnapshot;

/** A request, as far as the model needs it; `@setpoint/data-service/agent` has the whole protocol. */
interface ObjectRequest {
  readonly task: "backup" | "verify" | "fetch" | "delete" | "damage";
  readonly engine: string;
  readonly object: string;
  readonly source?: unknown;
}

type Request = ObjectRequest | WayRequest;

/** The operator's image in simulated worlds. */
export const simulatedOperatorImage = "operator.invalid/setpoint:simulated";

const requestVariable = "SETPOINT_AGENT_REQUEST";
const snapshotFolder = "/run/setpoint/snapshot";
const claimFolder = "/run/setpoint/data";
const transferMsMin = 200;
const transferMsMax = 3_000;
const killedCode = 137;

/** Runs the containers of the operator's image: transfers, with the argument `agent`, and copies of data. */
export class TransferModel implements ProgramModel {
  readonly vault: BackupVault = new BackupVault();
  readonly violations: string[] = [];
  /** How many transfers of each task have begun. */
  readonly started: Map<string, number> = new Map();
  /** Added to the duration of each transfer. */
  slowMs = 0;
  /** The copies of data that volumes have beside the data themselves, by their path. */
  readonly copies: Map<string, unknown> = new Map();
  /** Why no copy of data on a volume can be made, such as a lack of space. */
  copyRefusal: string | undefined;
  readonly #origins: Readonly<Record<string, SnapshotOrigin>>;
  readonly #values: Readonly<Record<string, SimulatedValues>>;
  readonly #logs: Readonly<Record<string, WayFinder>>;
  readonly #writing = new Map<string, string>();

  /**
   * `origins` by the names of engines; `values` too, for engines with acceptance tests, and `logs` for those
   * with archived logs.
   */
  constructor(
    origins: Readonly<Record<string, SnapshotOrigin>>,
    values: Readonly<Record<string, SimulatedValues>> = {},
    logs: Readonly<Record<string, WayFinder>> = {},
  ) {
    this.#origins = origins;
    this.#values = values;
    this.#logs = logs;
  }

  runs(image: string): boolean {
    return image === simulatedOperatorImage;
  }

  start(launch: Launch): Program {
    // What it copies is a story's own: a world has no traffic between pods.
    if (launch.command[0] === "mirror") return idleProgram.start(launch);
    if (launch.command[0] !== "agent") return copyFiles(launch, this.copies, this.copyRefusal);
    const request = requestOf(launch);
    if (isProbe(request)) return startProbe(request, launch, this.#values[request.engine]);
    this.started.set(request.task, (this.started.get(request.task) ?? 0) + 1);
    const written = request.task === "backup" || request.task === "delete" ? request.object : undefined;
    if (written !== undefined) this.#begin(written, launch.podName);
    let isOver = false;
    const end = (code: number, message?: string): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      if (written !== undefined && this.#writing.get(written) === launch.podName) this.#writing.delete(written);
      launch.exited(code, message);
    };
    const { clock, random } = launch.host;
    const delayMs = transferMsMin + random.int(transferMsMax - transferMsMin) + this.slowMs;
    const timer = clock.setTimer(() => end(...this.#outcome(request, launch)), delayMs);
    const cancelled = JSON.stringify({
      outcome: "failed",
      reason: "Cancelled",
      message: "the pod was stopped",
      retry: true,
    });
    return { terminate: () => end(1, cancelled), kill: () => end(killedCode) };
  }

  /** No two transfers may write one object at a time. */
  #begin(object: string, pod: string): void {
    const other = this.#writing.get(object);
    if (other !== undefined) this.violations.push(`pods ${other} and ${pod} write ${object} at the same time`);
    this.#writing.set(object, pod);
  }

  #outcome(request: Request, launch: Launch): [number, string] {
    try {
      return [0, JSON.stringify({ outcome: "done", ...this.#execute(request, launch) })];
    } catch (error) {
      const { reason, message, retry } =
        error instanceof TransferFailure
          ? error
          : {
              reason: "SourceUnreachable",
              message: error instanceof Error ? error.message : String(error),
              retry: true,
            };
      return [1, JSON.stringify({ outcome: "failed", reason, message, retry })];
    }
  }

  #execute(request: Request, launch: Launch): object | undefined {
    this.vault.requireReachable();
    switch (request.task) {
      case "backup":
        return { backup: this.#backUp(request, launch.host) };
      case "verify":
        return { backup: this.vault.read(request.object).manifest };
      case "fetch":
        return { backup: this.#fetch(request.object, launch) };
      case "verifyWay": {
        const { way } = this.#wayTo(request);
        return { backup: this.vault.read(way.object).manifest, way };
      }
      case "fetchWay": {
        const { way, files } = this.#wayTo(request);
        for (const [name, file] of files) launch.volumes.get(claimFolder)?.files.set(`replay/${name}`, file);
        return { backup: this.#fetch(way.object, launch), way };
      }
      case "delete":
        return void this.vault.delete(request.object);
      case "damage":
        return void this.vault.damage(request.object);
    }
  }

  #fetch(object: string, { volumes }: Launch): object {
    const { data, manifest } = this.vault.read(object);
    volumes.get(snapshotFolder)?.files.set("snapshot", data);
    return manifest;
  }

  #wayTo(request: WayRequest): SimulatedWay {
    const find = this.#logs[request.engine];
    if (find === undefined) throw new Error(`the world has no logs of engine "${request.engine}"`);
    return find(request, this.vault);
  }

  /** A complete object is that of an earlier attempt whose result was lost. */
  #backUp({ engine, object, source }: ObjectRequest, { clock }: Host): object {
    const present = this.vault.whole(object);
    if (present !== undefined) return present.manifest;
    const origin = this.#origins[engine];
    if (origin === undefined) throw new Error(`Cannot take a snapshot: the world has no model of engine "${engine}"`);
    const { data, position, engineVersion, log } = origin(source);
    const sha256 = sha256Of(data);
    const bytes = { dataBytes: data.length, storedBytes: data.length, sha256, storedSha256: sha256 };
    const taken = { format: 1, engine, engineVersion, position, takenAt: timestampAt(clock.now()), ...bytes };
    const manifest = log === undefined ? taken : { ...taken, log };
    this.vault.put(object, { data, manifest });
    return manifest;
  }
}

function requestOf({ environment }: Launch): Request | ProbeRequest {
  // The operator under test wrote it; a wrong one fails here.
  return JSON.parse(environment[requestVariable] ?? "") as Request | ProbeRequest;
}

function isProbe(request: Request | ProbeRequest): request is ProbeRequest {
  return request.task === "write" || request.task === "read";
}
