import type { Container, ContainerState, ContainerStatus, Probe, ResourceRequirements } from "@setpoint/api";
import { messageOf } from "@setpoint/apimachinery";
import { sleep, timestampAt } from "@setpoint/host";
import type { AdoptedContainer, ContainerExit, RunningContainer } from "../sandbox/container-runtime.ts";
import { containerLimits } from "../pod/container-limits.ts";
import type { ReportedStatus } from "../status/pod-status.ts";
import { goDuration } from "../status/go-duration.ts";
import { nextBackOff, noBackOff, type RestartBackOff } from "../status/restart-back-off.ts";
import { type ContainerEnd, containerEnd } from "./container-exit.ts";
import { configRetryMs, type ContainerParts } from "./container-parts.ts";
import {
  type ContainerPhase,
  containerState,
  noHistory,
  recordedHistory,
  type TerminatedPhase,
  waitingFor,
} from "./container-phase.ts";
import { type ProbedBefore, startProber } from "./container-prober.ts";
import { ImagePuller } from "./image-puller.ts";
import { resourceStatus, restartsToResize } from "./container-resources.ts";
import { runPostStart, runPreStop } from "./lifecycle-hooks.ts";

/** They stay while the next try goes on. */
const backOffReasons: ReadonlySet<string> = new Set(["CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff"]);
/** The grace period where neither pod nor probe names one. */
const defaultGraceMs = 30_000;
/** Errors with which a container waits instead of failing, and its reason if it has one of its own. */
const waitingReasons: ReadonlyMap<unknown, string | undefined> = new Map([
  ["ERR_CONTAINER_CONFIG", "CreateContainerConfigError"],
  ["ERR_NETWORK", undefined],
]);

/**
 * One container of a pod: starts it, probes it, stops it, and knows its status. The pod worker decides what
 * it should do.
 */
export class ContainerWorker {
  readonly #parts: ContainerParts;
  readonly #puller: ImagePuller;
  #container: Container;
  #phase: ContainerPhase;
  #lastState: ContainerState;
  #restartCount: number;
  #attempt: number;
  #imageId: string;
  #containerId: string | undefined;
  #backOff: RestartBackOff = noBackOff;
  #stopping: Promise<void> | undefined;
  #isReplaced = false;
  readonly #abort = new AbortController();

  /** `recorded` is what an earlier agent reported, `adopted` what it left on the host. */
  constructor(container: Container, parts: ContainerParts, recorded?: ContainerStatus, adopted?: AdoptedContainer) {
    const { clock, creatingReason } = parts;
    const history =
      recorded === undefined ? noHistory(creatingReason) : recordedHistory(recorded, clock, creatingReason);
    this.#container = container;
    this.#parts = parts;
    this.#puller = new ImagePuller(parts);
    this.#phase = history.phase;
    this.#lastState = history.lastState;
    this.#restartCount = history.restartCount;
    this.#attempt = history.attempt;
    this.#imageId = history.imageId;
    this.#containerId = history.containerId;
    if (adopted !== undefined) this.#adopt(adopted, recorded);
  }

  get name(): string {
    return this.#container.name;
  }

  get running(): RunningContainer | undefined {
    return this.#phase.kind === "running" ? this.#phase.running : undefined;
  }

  /** What its control group allows; undefined unless it runs. */
  get resources(): ResourceRequirements | undefined {
    return this.#phase.kind === "running" ? this.#phase.resources : undefined;
  }

  get exitCode(): number | undefined {
    return this.#phase.kind === "terminated" ? this.#phase.state.exitCode : undefined;
  }

  /** Whether its next run follows at once: until then, its status is that of the run before. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  get isStarting(): boolean {
    return this.#phase.kind === "starting";
  }

  get started(): boolean {
    return this.#phase.kind === "running" && this.#phase.prober.started;
  }

  /** Of the newest run, from 0. */
  get attempt(): number {
    return Math.max(this.#attempt, 0);
  }

  /** Starts the container when it is due. Returns the time of the next try when only time has to pass. */
  ensureRunning(container: Container, restart: (exitCode: number) => boolean): number | undefined {
    this.#container = container;
    const phase = this.#phase;
    const nowMs = this.#parts.clock.monotonic();
    if (phase.kind === "starting" || this.#stopping !== undefined) return undefined;
    if (phase.kind === "running") {
      if (phase.image !== (container.image ?? "") || restartsToResize(container, phase.resources)) this.#restart();
      return undefined;
    }
    if (phase.kind === "terminated") {
      if (!restart(phase.state.exitCode)) return undefined;
      if (nowMs < phase.restartAfterMs) return this.#crashLoop(phase);
    }
    if (phase.kind === "waiting" && nowMs < phase.notBeforeMs) return phase.notBeforeMs;
    void this.#start();
    return undefined;
  }

  /** Brings its control group to the resources that it has now. Throws what the kernel refuses. */
  resize(container: Container): void {
    const { resources = {} } = container;
    if (this.#phase.kind !== "running") return;
    this.#phase.running.limit(containerLimits(container));
    this.#phase = { ...this.#phase, resources };
  }

  /** The container waits for others of its pod, or for its pod with a message. */
  hold(message?: string): void {
    if (this.#phase.kind === "waiting") this.#phase = waitingFor(this.#parts.creatingReason, message);
  }

  /** preStop, SIGTERM, and SIGKILL when the grace period is over. Idempotent. */
  stop(graceMs: number): Promise<void> {
    return this.#stopOnce(graceMs, `Stopping container ${this.name}`);
  }

  /** Ends the worker for good: aborts a pull, kills a running container. */
  destroy(): void {
    this.#abort.abort(new Error("the pod was deleted"));
    this.killNow();
  }

  /** The container keeps running without this worker. */
  leave(): void {
    this.#abort.abort(new Error("the node agent stops"));
    if (this.#phase.kind === "running") this.#phase.prober.stop();
  }

  killNow(): void {
    this.running?.destroy();
  }

  status(): ReportedStatus {
    const running = this.#phase.kind === "running" ? this.#phase : undefined;
    return {
      name: this.name,
      state: containerState(this.#phase),
      lastState: this.#lastState,
      ready: running?.prober.ready ?? false,
      started: running?.prober.started ?? false,
      restartCount: this.#restartCount,
      ...(this.#attempt < 0 ? {} : resourceStatus(this.#container, running?.resources)),
      image: running?.image ?? this.#container.image ?? "",
      imageID: this.#imageId,
      ...(this.#containerId === undefined ? {} : { containerID: `process://${this.#containerId}` }),
    };
  }

  /** A run that an earlier agent started: it is still running, or how it ended is known. */
  #adopt({ attempt, startedAtMs, running, exit }: AdoptedContainer, recorded: ContainerStatus | undefined): void {
    const id = `${this.#parts.podUid}/${this.name}/${attempt}`;
    const isRecorded = recorded?.containerID === `process://${id}`;
    if (exit !== undefined && isRecorded && recorded.state?.terminated !== undefined) return;
    // The status is of the run before.
    if (!isRecorded && this.#phase.kind === "terminated") this.#lastState = { terminated: this.#phase.state };
    this.#attempt = attempt;
    this.#restartCount = Math.max(this.#restartCount, attempt);
    this.#containerId = id;
    if (running !== undefined) {
      const before = isRecorded ? { started: recorded.started === true, ready: recorded.ready } : undefined;
      // An agent before this one may not have resized it any more.
      const resources = (isRecorded ? recorded.resources : undefined) ?? this.#container.resources;
      return this.#follow({ ...this.#container, ...(resources && { resources }) }, running, before);
    }
    if (exit !== undefined) this.#exited(this.#container, exit, startedAtMs);
  }

  #restart(): void {
    this.#isReplaced = this.#parts.hasImage(this.#container.image ?? "");
    void this.#stopOnce(defaultGraceMs, `Container ${this.name} definition changed, will be restarted`).then(() => {
      if (this.#phase.kind === "terminated") {
        this.#lastState = { terminated: this.#phase.state };
        this.#phase = waitingFor(this.#parts.creatingReason);
      }
      this.#parts.changed();
    });
  }

  /** A container that waits for its restart shows as waiting; how it ended is in lastState. */
  #crashLoop({ state, restartAfterMs }: TerminatedPhase): number {
    const { podLabel } = this.#parts;
    const delay = goDuration(this.#backOff.delayMs);
    const message = `back-off ${delay} restarting failed container=${this.name} pod=${podLabel}`;
    this.#lastState = { terminated: state };
    this.#phase = { kind: "waiting", reason: "CrashLoopBackOff", message, notBeforeMs: restartAfterMs };
    this.#event("Warning", "BackOff", `Back-off restarting failed container ${this.name} in pod ${podLabel}`);
    this.#parts.changed();
    return restartAfterMs;
  }

  async #start(): Promise<void> {
    const container = this.#container;
    this.#showStarting();
    const image = await this.#puller.pull(container, this.#abort.signal);
    if (image === undefined) return;
    if ("kind" in image) this.#isReplaced = false;
    if ("kind" in image) {
      this.#phase = image;
      return this.#parts.changed();
    }
    this.#imageId = image.id;
    try {
      const attempt = this.#attempt + 1;
      const spec = await this.#parts.describe(container, image, attempt);
      if (this.#abort.signal.aborted) return;
      this.#event("Normal", "Created", "Container created");
      const running = await this.#parts.start(spec);
      if (this.#abort.signal.aborted) return running.destroy();
      this.#countRun();
      this.#started(container, running);
    } catch (error) {
      this.#startFailed(container, error);
    }
  }

  #showStarting(): void {
    const before = this.#phase;
    if (before.kind === "terminated") this.#lastState = { terminated: before.state };
    const isBackOff = before.kind === "waiting" && backOffReasons.has(before.reason);
    const message = before.kind === "waiting" ? before.message : undefined;
    this.#phase = {
      kind: "starting",
      reason: isBackOff ? before.reason : this.#parts.creatingReason,
      ...(message === undefined ? {} : { message }),
    };
  }

  #countRun(): void {
    this.#attempt++;
    if (this.#lastState.terminated !== undefined) this.#restartCount++;
  }

  #startFailed(container: Container, error: unknown): void {
    this.#isReplaced = false;
    if (this.#abort.signal.aborted) return;
    const message = messageOf(error);
    this.#event("Warning", "Failed", `Error: ${message}`);
    const { code } = error as { code?: unknown };
    if (waitingReasons.has(code)) {
      const reason = waitingReasons.get(code) ?? this.#parts.creatingReason;
      const notBeforeMs = this.#parts.clock.monotonic() + configRetryMs;
      this.#phase = { kind: "waiting", reason, message, notBeforeMs };
      return this.#parts.changed();
    }
    this.#countRun();
    this.#terminated(container, { exitCode: 128, reason: "StartError", message }, 0, this.#parts.clock.now());
  }

  #started(container: Container, running: RunningContainer): void {
    this.#isReplaced = false;
    this.#containerId = running.id;
    this.#follow(container, running);
    this.#event("Normal", "Started", "Container started");
    void runPostStart(this.#parts, container, running).then((isOk) => (isOk ? undefined : this.stop(defaultGraceMs)));
    this.#parts.changed();
  }

  #follow(container: Container, running: RunningContainer, before?: ProbedBefore): void {
    const onUnhealthy = (name: string, probe: Probe): void => this.#unhealthy(name, probe);
    const prober = startProber(this.#parts, container, running, before, onUnhealthy);
    const { startedAtMs } = running;
    const startedAt = timestampAt(startedAtMs);
    const { image = "", resources = {} } = container;
    this.#phase = { kind: "running", running, prober, startedAt, image, resources };
    void running.exited.then((exit) => {
      prober.stop();
      this.#exited(container, exit, startedAtMs);
    });
  }

  #unhealthy(name: string, { terminationGracePeriodSeconds }: Probe): void {
    const graceMs =
      terminationGracePeriodSeconds === undefined ? defaultGraceMs : Number(terminationGracePeriodSeconds) * 1_000;
    void this.#stopOnce(graceMs, `Container ${this.name} failed ${name.toLowerCase()} probe, will be restarted`);
  }

  #exited(container: Container, exit: ContainerExit, startedAtMs: number): void {
    const { finishedAtMs = this.#parts.clock.now() } = exit;
    this.#terminated(container, containerEnd(exit, startedAtMs), finishedAtMs - startedAtMs, finishedAtMs);
  }

  #terminated(container: Container, end: ContainerEnd, ranMs: number, finishedAtMs: number): void {
    this.#backOff = nextBackOff(this.#backOff, ranMs);
    const message = this.#parts.ended(container, this.attempt, end.exitCode);
    const state = {
      ...end,
      ...(message === undefined ? {} : { message }),
      finishedAt: timestampAt(finishedAtMs),
      ...(this.#containerId === undefined ? {} : { containerID: `process://${this.#containerId}` }),
    };
    const restartAfterMs = this.#parts.clock.monotonic() + this.#backOff.delayMs;
    this.#phase = { kind: "terminated", state, restartAfterMs };
    this.#parts.changed();
  }

  #stopOnce(graceMs: number, message: string): Promise<void> {
    this.#stopping ??= this.#stop(graceMs, message).finally(() => (this.#stopping = undefined));
    return this.#stopping;
  }

  async #stop(graceMs: number, message: string): Promise<void> {
    const { clock } = this.#parts;
    while (this.#phase.kind === "starting" && !this.#abort.signal.aborted) await sleep(clock, 10);
    if (this.#phase.kind !== "running") return;
    const { running, prober } = this.#phase;
    this.#event("Normal", "Killing", message);
    prober.stop();
    const deadline = clock.setTimer(() => running.destroy(), graceMs);
    await runPreStop(this.#parts, this.#container, running, graceMs);
    running.stop();
    await running.exited;
    deadline.cancel();
    // Processes that the main process left behind end with the first process of the sandbox.
    running.destroy();
  }

  #event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#parts.event(type, reason, message, this.name);
  }
}
