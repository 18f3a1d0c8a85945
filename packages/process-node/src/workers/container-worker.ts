import type { Container, ContainerState, ContainerStateTerminated, ContainerStatus, Probe } from "@setpoint/api";
import { messageOf } from "@setpoint/apimachinery";
import { type Clock, sleep, timestamp, timestampAt } from "@setpoint/host";
import type { AdoptedContainer, ContainerExit, ContainerSpec, RunningContainer } from "../sandbox/container-runtime.ts";
import type { LocalImage } from "../images/image.ts";
import type { ProbeHandler } from "../cluster/pod.ts";
import { Prober } from "../probes/prober.ts";
import type { ProbeResult } from "../probes/probe-runner.ts";
import type { ReportedStatus } from "../status/pod-status.ts";
import { nextBackOff, noBackOff, type RestartBackOff } from "../status/restart-back-off.ts";

/** What a container worker needs of its pod and node. */
export interface ContainerParts {
  readonly clock: Clock;
  /** For messages: `main pod=web-0_default(uid)`. */
  readonly podLabel: string;
  readonly podUid: string;
  hasImage(image: string): boolean;
  pullImage(image: string, signal: AbortSignal): Promise<LocalImage>;
  /** Everything that a start needs but the image; throws ERR_CONTAINER_CONFIG. */
  describe(container: Container, image: LocalImage, attempt: number): Promise<ContainerSpec>;
  start(spec: ContainerSpec): Promise<RunningContainer>;
  probe(
    container: Container,
    running: RunningContainer,
    handler: ProbeHandler,
    timeoutMs: number,
  ): Promise<ProbeResult>;
  event(type: "Normal" | "Warning", reason: string, message: string, container: string): void;
  /** Something changed that the pod's status shows. */
  changed(): void;
  /** Its output is complete; answers what it said about its end. */
  ended(container: Container, attempt: number, exitCode: number): string | undefined;
}

type Phase =
  | { readonly kind: "waiting"; readonly reason: string; readonly message?: string; readonly notBeforeMs: number }
  | { readonly kind: "starting"; readonly reason: string; readonly message?: string }
  | {
      readonly kind: "running";
      readonly running: RunningContainer;
      readonly prober: Prober;
      readonly startedAt: string;
      readonly image: string;
    }
  | {
      readonly kind: "terminated";
      readonly state: ContainerStateTerminated;
      readonly restartAfterMs: number;
    };

const imageDelayMsFirst = 10_000;
const imageDelayMsMax = 300_000;

/** One container of a pod: starts it, watches it, ends it, and knows its status. The pod worker decides what it should do. */
export class ContainerWorker {
  readonly #parts: ContainerParts;
  #container: Container;
  #phase: Phase = { kind: "waiting", reason: "ContainerCreating", notBeforeMs: 0 };
  #lastState: ContainerState = {};
  #restartCount = 0;
  #attempt = -1;
  #backOff: RestartBackOff = noBackOff;
  #imageDelayMs = 0;
  #imageId = "";
  #containerId: string | undefined;
  #stopping: Promise<void> | undefined;
  readonly #abort = new AbortController();

  /** `recorded` is what an agent before this one reported, `adopted` what it left. */
  constructor(container: Container, parts: ContainerParts, recorded?: ContainerStatus, adopted?: AdoptedContainer) {
    this.#container = container;
    this.#parts = parts;
    if (recorded !== undefined) this.#recover(recorded);
    if (adopted !== undefined) this.#adopt(adopted, recorded);
  }

  get name(): string {
    return this.#container.name;
  }

  get running(): RunningContainer | undefined {
    return this.#phase.kind === "running" ? this.#phase.running : undefined;
  }

  get exitCode(): number | undefined {
    return this.#phase.kind === "terminated" ? this.#phase.state.exitCode : undefined;
  }

  get isStarting(): boolean {
    return this.#phase.kind === "starting";
  }

  get started(): boolean {
    return this.#phase.kind === "running" && this.#phase.prober.started;
  }

  get attempt(): number {
    return Math.max(this.#attempt, 0);
  }

  /** Brings the container nearer to running; returns when to look again, if time alone brings a change. */
  ensureRunning(container: Container, restart: (exitCode: number) => boolean): number | undefined {
    this.#container = container;
    const phase = this.#phase;
    const nowMs = this.#parts.clock.monotonic();
    if (phase.kind === "running") {
      if (phase.image === (container.image ?? "") || this.#stopping !== undefined) return undefined;
      this.#parts.event("Normal", "Killing", `Container ${this.name} definition changed, will be restarted`, this.name);
      void this.stop(defaultGraceMs, "image changed").then(() => this.#restartNow());
      return undefined;
    }
    if (phase.kind === "starting" || this.#stopping !== undefined) return undefined;
    if (phase.kind === "terminated") {
      if (!restart(phase.state.exitCode)) return undefined;
      if (nowMs < phase.restartAfterMs) return this.#crashLoop(phase);
    }
    if (phase.kind === "waiting" && nowMs < phase.notBeforeMs) return phase.notBeforeMs;
    void this.#start();
    return undefined;
  }

  /** Waiting for its turn: other containers come first. */
  hold(reason: string): void {
    if (this.#phase.kind === "waiting" && this.#phase.reason !== reason)
      this.#phase = { kind: "waiting", reason, notBeforeMs: 0 };
  }

  /** Waits because the pod cannot give what it needs. */
  fail(reason: string, message: string): void {
    if (this.#phase.kind === "waiting") this.#phase = { kind: "waiting", reason, message, notBeforeMs: 0 };
  }

  /** preStop, SIGTERM, and SIGKILL when the grace is over. Idempotent. */
  stop(graceMs: number, why?: string): Promise<void> {
    this.#stopping ??= this.#stop(graceMs, why).finally(() => (this.#stopping = undefined));
    return this.#stopping;
  }

  /** Ends the worker for good: a pull is given up, a running sandbox destroyed. */
  destroy(): void {
    this.#abort.abort(new Error("the pod is gone"));
    if (this.#phase.kind === "running") this.#phase.running.destroy();
  }

  /** The container goes on without this worker. */
  leave(): void {
    this.#abort.abort(new Error("the agent ends"));
    if (this.#phase.kind === "running") this.#phase.prober.stop();
  }

  /** A shorter grace that arrives while the container is being stopped. */
  killNow(): void {
    if (this.#phase.kind === "running") this.#phase.running.destroy();
  }

  status(): ReportedStatus {
    const running = this.#phase.kind === "running" ? this.#phase : undefined;
    return {
      name: this.name,
      state: this.#state(),
      lastState: this.#lastState,
      ready: running?.prober.ready ?? false,
      started: running?.prober.started ?? false,
      restartCount: this.#restartCount,
      image: running?.image ?? this.#container.image ?? "",
      imageID: this.#imageId,
      ...(this.#containerId === undefined ? {} : { containerID: `process://${this.#containerId}` }),
    };
  }

  #state(): ContainerState {
    const phase = this.#phase;
    if (phase.kind === "running") return { running: { startedAt: phase.startedAt } };
    if (phase.kind === "terminated") return { terminated: phase.state };
    return { waiting: { reason: phase.reason, ...(phase.message === undefined ? {} : { message: phase.message }) } };
  }

  /** A run that an agent before this one started: it goes on, or how it ended is known. */
  #adopt({ attempt, startedAtMs, running, exit }: AdoptedContainer, recorded: ContainerStatus | undefined): void {
    const id = `${this.#parts.podUid}/${this.name}/${attempt}`;
    const isRecorded = recorded?.containerID === `process://${id}`;
    if (exit !== undefined && isRecorded && recorded.state?.terminated !== undefined) return;
    // What was recorded last is the run before.
    const lost = this.#phase.kind === "terminated" ? this.#phase.state : undefined;
    if (!isRecorded && lost !== undefined) this.#lastState = { terminated: lost };
    this.#attempt = attempt;
    this.#restartCount = Math.max(this.#restartCount, attempt);
    this.#containerId = id;
    if (running !== undefined) {
      const before = isRecorded ? { started: recorded.started === true, ready: recorded.ready } : undefined;
      return this.#follow(this.#container, running, startedAtMs, before);
    }
    if (exit !== undefined) this.#exited(this.#container, exit, startedAtMs);
  }

  /** The record of a run before this agent started, of which nothing is left. */
  #recover(recorded: ContainerStatus): void {
    this.#restartCount = recorded.restartCount;
    this.#lastState = recorded.lastState ?? {};
    this.#imageId = recorded.imageID;
    this.#containerId = recorded.containerID?.replace("process://", "");
    const { running, terminated } = recorded.state ?? {};
    const hasRun = running !== undefined || terminated !== undefined;
    this.#attempt = hasRun ? recorded.restartCount : recorded.restartCount - 1;
    const lost = {
      exitCode: 137,
      reason: "Error",
      message: "The node stopped, and its containers with it",
      ...(running?.startedAt === undefined ? {} : { startedAt: running.startedAt }),
      finishedAt: timestamp(this.#parts.clock),
      ...(recorded.containerID === undefined ? {} : { containerID: recorded.containerID }),
    };
    const state = terminated ?? (running === undefined ? undefined : lost);
    if (state !== undefined) this.#phase = { kind: "terminated", state, restartAfterMs: 0 };
    else if (this.#lastState.terminated !== undefined) {
      this.#phase = { kind: "terminated", state: this.#lastState.terminated, restartAfterMs: 0 };
    }
  }

  #restartNow(): void {
    if (this.#phase.kind === "terminated") {
      this.#lastState = { terminated: this.#phase.state };
      this.#phase = { kind: "waiting", reason: "ContainerCreating", notBeforeMs: 0 };
    }
    this.#parts.changed();
  }

  /** A container that waits for its restart shows as waiting; how it ended stays in lastState. */
  #crashLoop(phase: Extract<Phase, { kind: "terminated" }>): number {
    const seconds = Math.round(this.#backOff.delayMs / 1_000);
    const message = `back-off ${seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`} restarting failed container=${this.name} pod=${this.#parts.podLabel}`;
    this.#lastState = { terminated: phase.state };
    this.#phase = { kind: "waiting", reason: "CrashLoopBackOff", message, notBeforeMs: phase.restartAfterMs };
    this.#parts.event(
      "Warning",
      "BackOff",
      `Back-off restarting failed container ${this.name} in pod ${this.#parts.podLabel}`,
      this.name,
    );
    this.#parts.changed();
    return phase.restartAfterMs;
  }

  async #start(): Promise<void> {
    if (this.#phase.kind === "terminated") this.#lastState = { terminated: this.#phase.state };
    const before = this.#phase.kind === "waiting" ? this.#phase : undefined;
    this.#phase = {
      kind: "starting",
      reason: before?.reason === "CrashLoopBackOff" ? "CrashLoopBackOff" : "ContainerCreating",
      ...(before?.message === undefined ? {} : { message: before.message }),
    };
    const container = this.#container;
    const image = await this.#pull(container.image ?? "", container.imagePullPolicy ?? "IfNotPresent");
    if (image === undefined) return;
    this.#imageId = image.id;
    try {
      const attempt = this.#attempt + 1;
      const spec = await this.#parts.describe(container, image, attempt);
      if (this.#abort.signal.aborted) return;
      this.#parts.event("Normal", "Created", `Container created`, this.name);
      const running = await this.#parts.start(spec);
      if (this.#abort.signal.aborted) return running.destroy();
      this.#attempt = attempt;
      if (this.#hasRun()) this.#restartCount++;
      this.#runs(container, running);
    } catch (error) {
      this.#startFailed(container, error);
    }
  }

  #hasRun(): boolean {
    return this.#lastState.terminated !== undefined;
  }

  /**
   * `Always` looks the image up anew, as with a registry: what lies in the cache under the same content is not made again.
   */
  async #pull(image: string, policy: "Always" | "IfNotPresent" | "Never"): Promise<LocalImage | undefined> {
    try {
      const isThere = policy !== "Always" && this.#parts.hasImage(image);
      if (!isThere && policy === "Never") return this.#neverPull(image);
      if (!isThere) this.#parts.event("Normal", "Pulling", `Pulling image "${image}"`, this.name);
      const pulled = await this.#parts.pullImage(image, this.#abort.signal);
      const how = isThere
        ? `Container image "${image}" already present on machine`
        : `Successfully pulled image "${image}"`;
      this.#parts.event("Normal", "Pulled", how, this.name);
      this.#imageDelayMs = 0;
      return pulled;
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#pullFailed(image, messageOf(error));
      return undefined;
    }
  }

  #neverPull(image: string): undefined {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    const notBeforeMs = this.#parts.clock.monotonic() + configRetryMs;
    this.#parts.event("Warning", "ErrImageNeverPull", message, this.name);
    this.#phase = { kind: "waiting", reason: "ErrImageNeverPull", message, notBeforeMs };
    this.#parts.changed();
  }

  /** The first failure shows as ErrImagePull; while it waits for the next attempt it is ImagePullBackOff. */
  #pullFailed(image: string, message: string): void {
    const isFirst = this.#imageDelayMs === 0;
    this.#imageDelayMs = Math.min(isFirst ? imageDelayMsFirst : this.#imageDelayMs * 2, imageDelayMsMax);
    this.#parts.event("Warning", "Failed", `Failed to pull image "${image}": ${message}`, this.name);
    const reason = isFirst ? "ErrImagePull" : "ImagePullBackOff";
    const text = isFirst ? message : `Back-off pulling image "${image}": ErrImagePull: ${message}`;
    this.#phase = {
      kind: "waiting",
      reason,
      message: text,
      notBeforeMs: this.#parts.clock.monotonic() + this.#imageDelayMs,
    };
    this.#parts.changed();
  }

  #startFailed(container: Container, error: unknown): void {
    if (this.#abort.signal.aborted) return;
    const message = messageOf(error);
    this.#parts.event("Warning", "Failed", `Error: ${message}`, this.name);
    const reason = waitingReasons.get((error as { code?: unknown }).code);
    if (reason !== undefined) {
      const notBeforeMs = this.#parts.clock.monotonic() + configRetryMs;
      this.#phase = { kind: "waiting", reason, message, notBeforeMs };
      return this.#parts.changed();
    }
    this.#attempt++;
    if (this.#hasRun()) this.#restartCount++;
    this.#terminated(container, { exitCode: 128, reason: "StartError", message }, 0);
  }

  #runs(container: Container, running: RunningContainer): void {
    this.#containerId = running.id;
    this.#follow(container, running, this.#parts.clock.now());
    this.#parts.event("Normal", "Started", `Container started`, this.name);
    const { postStart } = container.lifecycle ?? {};
    if (postStart !== undefined) void this.#postStart(container, running, postStart);
    this.#parts.changed();
  }

  #follow(
    container: Container,
    running: RunningContainer,
    startedAtMs: number,
    before?: { readonly started: boolean; readonly ready: boolean },
  ): void {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const prober = new Prober({
      clock: this.#parts.clock,
      probes: {
        ...(startupProbe === undefined ? {} : { startup: startupProbe }),
        ...(livenessProbe === undefined ? {} : { liveness: livenessProbe }),
        ...(readinessProbe === undefined ? {} : { readiness: readinessProbe }),
      },
      ...(before === undefined ? {} : { before }),
      run: (probe) => this.#parts.probe(container, running, probe, (probe.timeoutSeconds ?? 1) * 1_000),
      onChange: () => this.#parts.changed(),
      onFailure: (name, message) =>
        this.#parts.event("Warning", "Unhealthy", `${name} probe failed: ${message}`, this.name),
      onUnhealthy: (name, probe) => this.#unhealthy(name, probe),
    });
    const startedAt = timestampAt(startedAtMs);
    this.#phase = { kind: "running", running, prober, startedAt, image: container.image ?? "" };
    void running.exited.then((exit) => {
      prober.stop();
      this.#exited(container, exit, startedAtMs);
    });
  }

  #exited(container: Container, exit: ContainerExit, startedAtMs: number): void {
    const { exitCode, finishedAtMs = this.#parts.clock.now() } = exit;
    const signal = exitCode > 128 && exitCode < 160 ? { signal: exitCode - 128 } : {};
    const how = { exitCode, ...signal, reason: exitReason(exit), startedAt: timestampAt(startedAtMs) };
    const message = exit.isUnknown === true ? { message: unknownExit } : {};
    this.#terminated(container, { ...how, ...message }, finishedAtMs - startedAtMs, finishedAtMs);
  }

  async #postStart(container: Container, running: RunningContainer, handler: ProbeHandler): Promise<void> {
    const result = await this.#parts.probe(container, running, handler, hookTimeoutMs);
    if (result.ok) return;
    this.#parts.event("Warning", "FailedPostStartHook", `PostStartHook failed: ${result.message}`, this.name);
    await this.stop(defaultGraceMs);
  }

  #unhealthy(name: string, probe: Probe): void {
    const what = `Container ${this.name} failed ${name.toLowerCase()} probe, will be restarted`;
    this.#parts.event("Normal", "Killing", what, this.name);
    void this.stop((probe.terminationGracePeriodSeconds ?? defaultGraceMs / 1_000) * 1_000);
  }

  #terminated(
    container: Container,
    how: Omit<ContainerStateTerminated, "containerID" | "finishedAt">,
    ranMs: number,
    finishedAtMs: number = this.#parts.clock.now(),
  ): void {
    this.#backOff = nextBackOff(this.#backOff, ranMs);
    const containerID = this.#containerId === undefined ? {} : { containerID: `process://${this.#containerId}` };
    const said = this.#parts.ended(container, this.attempt, how.exitCode);
    const message = said === undefined ? {} : { message: said };
    const state = { ...how, ...message, finishedAt: timestampAt(finishedAtMs), ...containerID };
    const restartAfterMs = this.#parts.clock.monotonic() + this.#backOff.delayMs;
    this.#phase = { kind: "terminated", state, restartAfterMs };
    this.#parts.changed();
  }

  async #stop(graceMs: number, why?: string): Promise<void> {
    while (this.#phase.kind === "starting" && !this.#abort.signal.aborted) await sleep(this.#parts.clock, 10);
    if (this.#phase.kind !== "running") return;
    const { running, prober } = this.#phase;
    const { clock } = this.#parts;
    if (why === undefined) this.#parts.event("Normal", "Killing", `Stopping container ${this.name}`, this.name);
    prober.stop();
    const deadline = clock.setTimer(() => running.destroy(), graceMs);
    await this.#preStop(running, graceMs);
    running.signal("SIGTERM");
    await running.exited;
    deadline.cancel();
    // Orphans of the main process end with the sandbox's first process.
    running.destroy();
  }

  async #preStop(running: RunningContainer, graceMs: number): Promise<void> {
    const hook = this.#container.lifecycle?.preStop;
    if (hook === undefined || graceMs <= 0) return;
    if (hook.sleep !== undefined) await sleep(this.#parts.clock, Math.min(hook.sleep.seconds * 1_000, graceMs));
    const result = await this.#parts.probe(this.#container, running, hook, graceMs);
    if (!result.ok)
      this.#parts.event("Warning", "FailedPreStopHook", `PreStopHook failed: ${result.message}`, this.name);
  }
}

const unknownExit = "The container could not be located when the pod was terminated";

function exitReason({ exitCode, oomKilled, isUnknown }: ContainerExit): string {
  if (isUnknown === true) return "ContainerStatusUnknown";
  if (oomKilled === true) return "OOMKilled";
  return exitCode === 0 ? "Completed" : "Error";
}

/** Where neither pod nor probe says how long a container may take to end. */
export const defaultGraceMs = 30_000;
const configRetryMs = 5_000;
/** Errors that are not of the container, so that it waits in place of having failed. */
const waitingReasons: ReadonlyMap<unknown, string> = new Map([
  ["ERR_CONTAINER_CONFIG", "CreateContainerConfigError"],
  ["ERR_NETWORK", "ContainerCreating"],
]);
const hookTimeoutMs = 60_000;
