import { type Host, sleep, timestamp, type Timer } from "@setpoint/host";
import { ContainerWorker } from "../container-worker.ts";
import type { RunningContainer } from "../container-runtime.ts";
import type { Container, Pod, PodStatus } from "../pod/pod.ts";
import { podIdentity } from "../pod/pod.ts";
import { podStatus, restarts } from "../status/pod-status.ts";
import type { SimulatedBehaviours, SimulatedProcess } from "./behaviours.ts";

export interface SimulatedPodParts {
  readonly host: Host;
  readonly behaviours: SimulatedBehaviours;
  readonly podIP: string;
  readonly hostIP: string;
  prepare(pod: Pod): Promise<void>;
  event(pod: Pod, type: "Normal" | "Warning", reason: string, message: string, container?: string): void;
  writeStatus(pod: Pod, status: PodStatus): Promise<void>;
  remove(pod: Pod): Promise<void>;
}

/** Pulling and starting a container take at most this long each. */
const startDelayMsMax = 400;
const retryMs = 1_000;

/** A pod of the simulated node: main containers only, in virtual time. */
export class SimulatedPod {
  #pod: Pod;
  readonly #parts: SimulatedPodParts;
  readonly #workers = new Map<string, ContainerWorker>();
  readonly #processes = new Map<string, SimulatedProcess>();
  #isDirty = false;
  #pass: Promise<void> | undefined;
  #isDone = false;
  #isPrepared = false;
  #written = "";
  #timer: Timer | undefined;
  #timerDueMs = 0;

  constructor(pod: Pod, parts: SimulatedPodParts) {
    this.#pod = pod;
    this.#parts = parts;
    this.#wake();
  }

  /** Whether a pass is under way. */
  get isBusy(): boolean {
    return this.#pass !== undefined;
  }

  get pod(): Pod {
    return this.#pod;
  }

  update(pod: Pod): void {
    this.#pod = pod;
    this.#wake();
  }

  kill(container: string | undefined): boolean {
    const name = container ?? this.#pod.spec.containers[0]?.name ?? "";
    if (this.#workers.get(name)?.running === undefined) return false;
    this.#processes.get(name)?.stop("SIGKILL");
    return true;
  }

  /** The pod is gone from the API, or the world ends. */
  destroy(): void {
    this.#isDone = true;
    this.#timer?.cancel();
    for (const worker of this.#workers.values()) worker.destroy();
  }

  #wake(): void {
    this.#isDirty = true;
    this.#pass ??= this.#passes().finally(() => {
      this.#pass = undefined;
      if (this.#isDirty && !this.#isDone) this.#wake();
    });
  }

  async #passes(): Promise<void> {
    while (this.#isDirty && !this.#isDone) {
      this.#isDirty = false;
      await new Promise<void>((resolve) => this.#parts.host.clock.defer(resolve));
      try {
        await this.#once();
      } catch (error) {
        this.#parts.host.log.debug("Simulated pod could not be synced", { error });
        this.#again(retryMs);
      }
    }
  }

  async #once(): Promise<void> {
    if (this.#isDone) return;
    if (this.#pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    const { phase } = this.#pod.status ?? {};
    if (phase === "Succeeded" || phase === "Failed") return;
    if (!this.#isPrepared) await this.#parts.prepare(this.#pod);
    this.#isPrepared = true;
    const policy = this.#pod.spec.restartPolicy ?? "Always";
    for (const container of this.#pod.spec.containers) {
      const againAtMs = this.#worker(container).ensureRunning(container, (code) => restarts(policy, code));
      if (againAtMs !== undefined) this.#again(againAtMs - this.#parts.host.clock.monotonic());
    }
    await this.#report();
  }

  async #terminate(): Promise<void> {
    const { deletionGracePeriodSeconds } = this.#pod.metadata;
    const graceMs = (deletionGracePeriodSeconds ?? this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
    await Promise.all(
      [...this.#workers.values()].map((worker) => {
        if (worker.isStarting) worker.destroy();
        return worker.stop(graceMs);
      }),
    );
    await this.#report();
    await this.#parts.remove(this.#pod);
    this.destroy();
  }

  async #report(): Promise<void> {
    const { host, podIP, hostIP } = this.#parts;
    const containers = this.#pod.spec.containers.flatMap(({ name }) => this.#workers.get(name)?.status() ?? []);
    const status = podStatus({
      pod: this.#pod,
      now: timestamp(host.clock),
      hostIP,
      podIP,
      containers,
      initContainers: [],
    });
    const text = JSON.stringify(status);
    if (text === this.#written) return;
    await this.#parts.writeStatus(this.#pod, status);
    this.#written = text;
  }

  /** Looks again after `delayMs`, or before that when another container asked for it: each pass asks anew. */
  #again(delayMs: number): void {
    const { clock } = this.#parts.host;
    const dueMs = clock.monotonic() + Math.max(0, delayMs);
    if (this.#timer !== undefined && this.#timerDueMs <= dueMs) return;
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      this.#wake();
    }, dueMs - clock.monotonic());
  }

  #worker(container: Container): ContainerWorker {
    const known = this.#workers.get(container.name);
    if (known !== undefined) return known;
    const { host } = this.#parts;
    const { namespace, name, uid } = podIdentity(this.#pod);
    const delay = (): Promise<void> => sleep(host.clock, host.random.int(startDelayMsMax));
    const record = this.#pod.status?.containerStatuses?.find((status) => status.name === container.name);
    const worker = new ContainerWorker(
      container,
      {
        clock: host.clock,
        podLabel: `${name}_${namespace}(${uid})`,
        podUid: uid,
        hasImage: () => true,
        async pullImage(image) {
          await delay();
          return { id: `simulated://${image}`, name: image, rootDirectory: "/", config: {} };
        },
        describe: async (it, _, attempt) => ({
          id: `${uid}/${it.name}/${attempt}`,
          rootDirectory: "/",
          command: it.command ?? [],
          env: {},
          hostname: name,
          mounts: [],
          files: {},
        }),
        start: async (spec) => {
          await delay();
          return this.#start(container.name, spec.id);
        },
        probe: async (it) =>
          this.#processes.get(it.name)?.ready() === true ? { ok: true } : { ok: false, message: "not ready" },
        event: (...args) => this.#parts.event(this.#pod, ...args),
        changed: () => this.#wake(),
        ended: () => undefined,
      },
      record,
    );
    this.#workers.set(container.name, worker);
    return worker;
  }

  #start(containerName: string, id: string): RunningContainer {
    const container = this.#pod.spec.containers.find(({ name }) => name === containerName);
    if (container === undefined)
      throw new TypeError(`Cannot start container "${containerName}": the pod has none of that name`);
    const started: Pod = { ...this.#pod, status: { ...this.#pod.status, podIP: this.#parts.podIP } };
    const process = this.#parts.behaviours.onContainerStart(started, container);
    this.#processes.set(containerName, process);
    return {
      id,
      pid: 0,
      sandboxPid: 0,
      exited: process.exited,
      signal: (name) => process.stop(name === "SIGKILL" ? "SIGKILL" : "SIGTERM"),
      destroy: () => process.stop("SIGKILL"),
      updateFiles() {},
      reopenLog() {},
      exec() {
        throw new TypeError("Cannot exec: containers of the simulated node are models");
      },
    };
  }
}
