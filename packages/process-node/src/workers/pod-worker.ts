import type { ContainerStatus, Container, Pod, PodStatus } from "@setpoint/api";
import { encodeJson, messageOf } from "@setpoint/apimachinery";
import { type Timer, timestamp } from "@setpoint/host";
import { podIdentity } from "../cluster/pod.ts";
import { logFile } from "../logs/container-log.ts";
import { rotateLog } from "../logs/log-rotation.ts";
import type { PodSandbox } from "../sandbox/container-runtime.ts";
import { endedStatus, type PodEnding, podStatus } from "../status/pod-status.ts";
import type { PreparedVolume } from "../volumes/pod-volumes.ts";
import { planContainers, restartsAfter } from "./container-order.ts";
import type { ContainerWorker } from "./container-worker.ts";
import { createContainerWorker } from "./create-container-worker.ts";
import { untilDeadlineMs } from "./pod-deadline.ts";
import type { PodParts } from "./pod-parts.ts";
import { PodResizer } from "./pod-resizer.ts";
import { graceMsOf, stopInOrder, stopSidecars, stopTogether } from "./pod-termination.ts";
import { SandboxWorker } from "./sandbox-worker.ts";
import { WakeTimer } from "./wake-timer.ts";

const prepareRetryMs = 2_000;
const sandboxRetryMs = 100;
const syncRetryMs = 1_000;
const resizeRetryMs = 5_000;
const evictionGraceMs = 1_000;

/**
 * One pod on this node, until its last process has ended. Every change (of the pod, of a container, of time)
 * leads to the same pass: compare the pod with its containers and do the next step.
 */
export class PodWorker {
  readonly uid: string;
  readonly #parts: PodParts;
  #pod: Pod;
  readonly #containers = new Map<string, ContainerWorker>();
  readonly #sandbox: SandboxWorker;
  #volumes: ReadonlyMap<string, PreparedVolume> | undefined;
  #podIP: string | undefined;
  #pass: Promise<void> | undefined;
  #isDirty = false;
  readonly #timer: WakeTimer;
  /** The status that was written last, as JSON. */
  #written = "";
  /** running → stopping (the agent stops) or gone (the pod was deleted) → done */
  #life: "running" | "stopping" | "gone" | "done" = "running";
  #graceTimer: Timer | undefined;
  readonly #resizer: PodResizer;
  #resizeProblem: string | undefined;
  #ending: (PodEnding & { readonly graceMs: number }) | undefined;

  /** A pod with a `rejection` never starts. */
  constructor(pod: Pod, parts: PodParts, rejection?: PodEnding) {
    this.uid = podIdentity(pod).uid;
    this.#pod = pod;
    this.#parts = parts;
    this.#timer = new WakeTimer(parts.clock, () => this.wake());
    this.#resizer = new PodResizer(parts.runtime);
    this.#sandbox = new SandboxWorker(parts, this.uid, (error) => this.#sandboxFailed(error));
    if (rejection !== undefined) this.#end(rejection.reason, rejection.message, 0);
    this.wake();
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Undefined before it has one. */
  get podIP(): string | undefined {
    return this.#podIP;
  }

  get isDone(): boolean {
    return this.#life === "done";
  }

  /** Whether its ports are taken: it has not ended, and was admitted. */
  get isAdmitted(): boolean {
    return !this.isDone && !this.#hasEnded && this.#ending?.reason !== "NodePorts";
  }

  /** Whether it runs, and was neither evicted nor deleted. */
  get isEvictable(): boolean {
    return this.#life === "running" && this.#ending === undefined && !this.#hasEnded && this.#sandbox.exists;
  }

  container(name: string): ContainerWorker | undefined {
    return this.#containers.get(name);
  }

  /** The pod has changed. */
  update(pod: Pod): void {
    const graceBefore = this.#pod.metadata.deletionGracePeriodSeconds;
    const grace = pod.metadata.deletionGracePeriodSeconds;
    this.#pod = pod;
    if (grace !== undefined && graceBefore !== undefined && grace < graceBefore) this.#killAfter(grace * 1_000);
    this.wake();
  }

  /** Ends the pod for good, because it uses more of the node than it may. */
  evict(reason: string): void {
    if (!this.isEvictable) return;
    this.#end("Evicted", reason, evictionGraceMs);
    this.wake();
  }

  /** The pod was deleted from the API: what still runs of it is killed. */
  async removed(): Promise<void> {
    if (this.#life !== "done") this.#life = "gone";
    for (const worker of this.#containers.values()) worker.destroy();
    this.wake();
    await this.settled();
  }

  /** The agent stops: containers stop within `graceMs`, and nothing more is reported. */
  async stop(graceMs: number): Promise<void> {
    if (this.#life === "running") this.#life = "stopping";
    this.#timer.cancel();
    // A container that is stopping already may have a longer grace period.
    this.#killAfter(graceMs);
    await stopTogether(this.#containers, graceMs);
    await this.#standStill();
    await this.#sandbox.remove();
  }

  /** The agent stops and another one takes over: containers keep running, and nothing more is reported. */
  async leave(): Promise<void> {
    if (this.#life === "running") this.#life = "stopping";
    for (const worker of this.#containers.values()) worker.leave();
    await this.#standStill();
  }

  /** Writes the status even if this worker has written the same before. */
  reportAgain(): void {
    this.#written = "";
    this.wake();
  }

  rotateLogs(): void {
    for (const { running, name, attempt } of this.#containers.values()) {
      if (running !== undefined)
        rotateLog(logFile(this.#parts.podDirectory(this.uid), name, attempt), () => running.reopenLog());
    }
  }

  /** Starts a pass, or repeats the one under way. */
  wake(): void {
    this.#isDirty = true;
    this.#pass ??= this.#passes().finally(() => {
      this.#pass = undefined;
      // It may have been woken after the last pass.
      if (this.#isDirty && !this.isDone) this.wake();
    });
  }

  async settled(): Promise<void> {
    while (this.#pass !== undefined) await this.#pass;
  }

  status(): PodStatus {
    const statuses = (containers: readonly Container[] = []) =>
      containers.flatMap(({ name }) => this.#containers.get(name)?.status() ?? []);
    return podStatus({
      pod: this.#pod,
      now: timestamp(this.#parts.clock),
      hostIP: this.#parts.network.nodeAddress,
      ...(this.#resizeProblem === undefined ? {} : { resizeProblem: this.#resizeProblem }),
      ...(this.#podIP === undefined ? {} : { podIP: this.#podIP }),
      containers: statuses(this.#pod.spec.containers),
      initContainers: statuses(this.#pod.spec.initContainers),
      ephemeralContainers: statuses(this.#pod.spec.ephemeralContainers),
    });
  }

  get #hasEnded(): boolean {
    const phase = this.#pod.status?.phase;
    return phase === "Succeeded" || phase === "Failed";
  }

  /**
   * Whether the node has other addresses than before its agent was restarted: the programs of the pod were
   * given one that is no more. It holds until the new address is reported.
   */
  get #hasMoved(): boolean {
    const { podIP = this.#podIP } = this.#pod.status ?? {};
    return podIP !== this.#podIP;
  }

  async #passes(): Promise<void> {
    while (this.#isDirty && !this.isDone) {
      this.#isDirty = false;
      // One pass is enough for changes that come in the same turn.
      await new Promise<void>((resolve) => this.#parts.clock.defer(resolve));
      try {
        await this.#sync();
      } catch (error) {
        const { namespace, name } = podIdentity(this.#pod);
        this.#parts.log.warn("Could not sync pod", { pod: `${namespace}/${name}`, error });
        this.#timer.after(syncRetryMs);
      }
    }
  }

  async #sync(): Promise<void> {
    if (this.#life === "stopping") return;
    await this.#createWorkers();
    if (this.#life === "gone" || this.#pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    if (this.#hasEnded) return this.#sandbox.remove();
    this.#watchDeadline();
    if (this.#ending !== undefined) return this.#finish(this.#ending);
    if (await this.#prepare()) await this.#runContainers();
    if (![...this.#containers.values()].some(({ isReplaced }) => isReplaced)) await this.#report();
  }

  /** Adopts what an earlier agent started, and how it ended meanwhile. */
  async #createWorkers(): Promise<void> {
    const {
      initContainerStatuses = [],
      containerStatuses = [],
      ephemeralContainerStatuses = [],
    } = this.#pod.status ?? {};
    const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
    const { initContainers = [], containers, ephemeralContainers = [] } = this.#pod.spec;
    for (const container of [...initContainers, ...containers, ...ephemeralContainers]) {
      const { name } = container;
      if (this.#containers.has(name)) continue;
      const recorded = all.find((status) => status.name === name);
      this.#containers.set(name, await this.#createWorker(container, recorded));
    }
  }

  async #createWorker(container: Container, recorded: ContainerStatus | undefined): Promise<ContainerWorker> {
    const adopted = await this.#parts.runtime.adopt(this.uid, container.name);
    const of = {
      pod: () => this.#pod,
      podIP: () => this.#podIP ?? "",
      volumes: () => this.#volumes ?? new Map<string, PreparedVolume>(),
      networkReady: () => this.#sandbox.networkReady,
      processId: (name: string) => this.#containers.get(name)?.running?.pid,
      changed: () => this.wake(),
    };
    return createContainerWorker(this.#parts, of, container, recorded, adopted);
  }

  /** Address, sandbox and volumes. False when one is missing; it is tried again later. */
  async #prepare(): Promise<boolean> {
    const { network } = this.#parts;
    this.#podIP ??= this.#pod.spec.hostNetwork === true ? network.nodeAddress : network.addressOf(this.uid);
    if (this.#hasMoved) return this.#restartWithAddress();
    if (await this.#sandbox.isLost()) return this.#replaceSandbox();
    const sandbox = await this.#ensureSandbox();
    return sandbox !== undefined && this.#prepareVolumes(sandbox, this.#podIP);
  }

  async #ensureSandbox(): Promise<PodSandbox | undefined> {
    try {
      return await this.#sandbox.ensure(this.#pod);
    } catch (error) {
      this.#sandboxFailed(error);
      return undefined;
    }
  }

  async #prepareVolumes(sandbox: PodSandbox, podIP: string): Promise<boolean> {
    const { volumes } = this.#parts;
    if (this.#volumes !== undefined) {
      await volumes.refresh(this.#pod);
      const files = this.#parts.hostFiles(this.#pod, podIP);
      for (const worker of this.#containers.values()) worker.running?.updateFiles(files);
      return true;
    }
    try {
      this.#volumes = await volumes.prepare(this.#pod, sandbox);
      return true;
    } catch (error) {
      this.#event("Warning", "FailedMount", messageOf(error));
      this.#waitWith(messageOf(error));
      return false;
    }
  }

  #sandboxFailed(error: unknown): void {
    const message = `Failed to create pod sandbox: ${messageOf(error)}`;
    this.#event("Warning", "FailedCreatePodSandBox", message);
    this.#parts.log.warn("Could not create pod sandbox", { pod: this.uid, podIP: this.#podIP ?? "", error });
    this.#waitWith(message);
  }

  #waitWith(message: string): void {
    for (const worker of this.#containers.values()) worker.hold(message);
    this.#timer.after(prepareRetryMs);
  }

  /** Programs listen on the address that they were given. */
  #restartWithAddress(): false {
    const message = `The addresses of the node changed, so the pod has ${this.#podIP} in place of ${this.#pod.status?.podIP}: its containers are restarted.`;
    this.#event("Normal", "SandboxChanged", message);
    for (const worker of this.#containers.values()) worker.killNow();
    this.#timer.after(sandboxRetryMs);
    return false;
  }

  /** Containers in namespaces that are gone end before the next sandbox is created. */
  #replaceSandbox(): false {
    const running = [...this.#containers.values()].filter((worker) => worker.running !== undefined);
    for (const worker of running) worker.killNow();
    if (running.length === 0) {
      this.#sandbox.forget();
      this.#event("Normal", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.");
    }
    this.#timer.after(sandboxRetryMs);
    return false;
  }

  async #runContainers(): Promise<void> {
    this.#resizeProblem = this.#resizer.resize(this.#pod, this.#containers);
    if (this.#resizeProblem !== undefined) this.#timer.after(resizeRetryMs);
    const plan = planContainers(this.#pod, this.#containers);
    if (plan.kind === "stopSidecars") return stopSidecars(this.#pod, this.#containers);
    const { ephemeralContainers = [] } = this.#pod.spec;
    for (const container of [...plan.containers, ...ephemeralContainers]) {
      const restart = (exitCode: number): boolean =>
        !ephemeralContainers.some(({ name }) => name === container.name) &&
        restartsAfter(this.#pod, container, exitCode);
      const dueMs = this.#containers.get(container.name)?.ensureRunning(container, restart);
      if (dueMs !== undefined) this.#timer.after(dueMs - this.#parts.clock.monotonic());
    }
    if (!plan.isInitializing) return;
    const due = new Set(plan.containers.map(({ name }) => name));
    const { initContainers = [], containers } = this.#pod.spec;
    for (const { name } of [...initContainers, ...containers]) if (!due.has(name)) this.#containers.get(name)?.hold();
  }

  #end(reason: PodEnding["reason"], message: string, graceMs: number): void {
    this.#ending = { reason, message, graceMs };
    this.#event(reason === "DeadlineExceeded" ? "Normal" : "Warning", reason, message);
  }

  #watchDeadline(): void {
    const restMs = untilDeadlineMs(this.#pod, this.#parts.clock.now());
    if (restMs === undefined || this.#ending !== undefined) return;
    if (restMs > 0) return this.#timer.after(restMs);
    const message = "Pod was active on the node longer than the specified deadline";
    this.#end("DeadlineExceeded", message, graceMsOf(this.#pod));
  }

  /** An evicted pod loses its volumes at once, because they are the reason, and keeps its logs. */
  async #finish(ending: PodEnding & { readonly graceMs: number }): Promise<void> {
    await stopTogether(this.#containers, ending.graceMs);
    const status = endedStatus(this.status(), ending, timestamp(this.#parts.clock));
    await this.#parts.reports.writeStatus(this.#pod, status);
    await this.#sandbox.remove();
    if (ending.reason === "Evicted") await this.#parts.volumes.empty(this.uid);
  }

  /** Stops the containers, reports how they ended, and deletes the object and everything on this node. */
  async #terminate(): Promise<void> {
    const { network, reports, runtime, volumes } = this.#parts;
    await stopInOrder(this.#pod, this.#containers, this.#life === "gone" ? 0 : graceMsOf(this.#pod));
    await this.#sandbox.remove();
    if (this.#life === "running") {
      await this.#report();
      await reports.removePod(this.#pod);
    }
    this.#graceTimer?.cancel();
    this.#timer.cancel();
    await volumes.remove(this.uid);
    runtime.releaseIds(this.uid);
    network.release(this.uid);
    this.#life = "done";
  }

  async #standStill(): Promise<void> {
    await this.settled();
    this.#timer.cancel();
    this.#graceTimer?.cancel();
  }

  #killAfter(graceMs: number): void {
    this.#graceTimer?.cancel();
    this.#graceTimer = this.#parts.clock.setTimer(() => {
      for (const worker of this.#containers.values()) worker.killNow();
    }, graceMs);
  }

  /** Writes the status when it differs from the API's and from what was written last. */
  async #report(): Promise<void> {
    const status = this.status();
    const text = encodeJson(status);
    if (text === this.#written || text === encodeJson(this.#pod.status)) return;
    await this.#parts.reports.writeStatus(this.#pod, status);
    this.#written = text;
  }

  #event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#parts.reports.event(this.#pod, type, reason, message);
  }
}
