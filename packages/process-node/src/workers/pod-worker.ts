import type { Container, ContainerStatus, Pod, PodStatus } from "@setpoint/api";
import { messageOf } from "@setpoint/apimachinery";
import { type Timer, timestamp } from "@setpoint/host";
import { ContainerWorker } from "./container-worker.ts";
import { describeContainer } from "./container-description.ts";
import type { AdoptedContainer, PodSandbox } from "../sandbox/container-runtime.ts";
import { dropOldLogs, logFile } from "../logs/container-log.ts";
import { rotateLog } from "../logs/log-rotation.ts";
import { terminationMessage } from "../logs/termination-message.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { PreparedVolume } from "../volumes/pod-volumes.ts";
import type { PodParts } from "./pod-parts.ts";
import { podLimits } from "../pod/container-limits.ts";
import { podUser } from "../pod/container-security.ts";
import { isSidecar, podHostname, podIdentity } from "../cluster/pod.ts";
import { runProbe } from "../probes/probe-runner.ts";
import { evictedStatus, podStatus, restarts } from "../status/pod-status.ts";

const prepareRetryMs = 2_000;
const sandboxRetryMs = 100;
const evictionGraceMs = 1_000;
const reportRetryMs = 1_000;
const defaultGraceSeconds = 30;

/**
 * One pod on this node, from the first sight of it until its last process is gone. Every change (of the pod, of a container,
 * of time) leads to the same pass: look at the pod as it is now and do the next thing.
 */
export class PodWorker {
  readonly uid: string;
  readonly #parts: PodParts;
  #pod: Pod;
  readonly #containers = new Map<string, ContainerWorker>();
  #volumes: ReadonlyMap<string, PreparedVolume> | undefined;
  #podIP: string | undefined;
  #sandbox: PodSandbox | undefined;
  /** The holder whose network namespace has the pod's interface. */
  /** Containers are made while the pod gets its network; their programs run after that. */
  #attached: { readonly holderPid: number; readonly done: Promise<void> } | undefined;
  #pass: Promise<void> | undefined;
  #isDirty = false;
  #timer: Timer | undefined;
  #timerDueMs = 0;
  #written = "";
  /** running → stopping (agent ends) or removing (pod was deleted) → done */
  #life: "running" | "stopping" | "gone" | "done" = "running";
  #graceTimer: Timer | undefined;
  /** Why the node ends it. */
  #evicted: string | undefined;

  constructor(pod: Pod, parts: PodParts) {
    this.uid = podIdentity(pod).uid;
    this.#pod = pod;
    this.#parts = parts;
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

  /** Whether it runs and was not evicted or deleted. */
  get isEvictable(): boolean {
    const isOver = this.#pod.status?.phase === "Succeeded" || this.#pod.status?.phase === "Failed";
    return this.#life === "running" && this.#evicted === undefined && !isOver && this.#sandbox !== undefined;
  }

  /** Ends the pod for good, because it uses more of the node than it may. */
  evict(why: string): void {
    if (!this.isEvictable) return;
    this.#evicted = why;
    this.#parts.reports.event(this.#pod, "Warning", "Evicted", why);
    this.wake();
  }

  container(name: string): ContainerWorker | undefined {
    return this.#containers.get(name);
  }

  /** The pod as it is now. */
  update(pod: Pod): void {
    const graceBefore = this.#pod.metadata.deletionGracePeriodSeconds;
    const grace = pod.metadata.deletionGracePeriodSeconds;
    this.#pod = pod;
    if (grace !== undefined && graceBefore !== undefined && grace < graceBefore) this.#shortenGrace(grace);
    this.wake();
  }

  /** The pod is gone from the API: whatever still runs has no owner. */
  async removed(): Promise<void> {
    if (this.#life !== "done") this.#life = "gone";
    for (const worker of this.#containers.values()) worker.destroy();
    this.wake();
    await this.settled();
  }

  /** The agent ends: containers end with it, within `graceMs`, and nothing more is reported. */
  async stop(graceMs: number): Promise<void> {
    if (this.#life === "running") this.#life = "stopping";
    this.#timer?.cancel();
    // A container that is being stopped already may have a longer grace.
    this.#shortenGrace(graceMs / 1_000);
    await Promise.all([...this.#containers.values()].map((worker) => this.#stopContainer(worker, graceMs)));
    await this.settled();
    this.#timer?.cancel();
    this.#graceTimer?.cancel();
    await this.#removeSandbox();
  }

  /** The agent ends and another one takes over: containers go on, and nothing more is reported. */
  async leave(): Promise<void> {
    if (this.#life === "running") this.#life = "stopping";
    for (const worker of this.#containers.values()) worker.leave();
    await this.settled();
    this.#timer?.cancel();
    this.#graceTimer?.cancel();
  }

  /** Its status is written when it differs from the API's, also when this worker wrote the same before. */
  reportAgain(): void {
    this.#written = "";
    this.wake();
  }

  /** Keeps the logs of its containers small. */
  rotateLogs(): void {
    for (const worker of this.#containers.values()) {
      const { running, name, attempt } = worker;
      if (running === undefined) continue;
      rotateLog(logFile(this.#parts.podDirectory(this.uid), name, attempt), () => running.reopenLog());
    }
  }

  /** Looks again soon. */
  wake(): void {
    this.#isDirty = true;
    this.#pass ??= this.#passes().finally(() => {
      this.#pass = undefined;
      // Between the last look and here somebody may have woken it.
      if (this.#isDirty && this.#life !== "done") this.wake();
    });
  }

  async settled(): Promise<void> {
    while (this.#pass !== undefined) await this.#pass;
  }

  status(): PodStatus {
    const of = (containers: readonly Container[] | undefined) =>
      (containers ?? []).flatMap(({ name }) => this.#containers.get(name)?.status() ?? []);
    return podStatus({
      pod: this.#pod,
      now: timestamp(this.#parts.clock),
      hostIP: this.#parts.network.nodeAddress,
      ...(this.#podIP === undefined ? {} : { podIP: this.#podIP }),
      containers: of(this.#pod.spec.containers),
      initContainers: of(this.#pod.spec.initContainers),
    });
  }

  async #passes(): Promise<void> {
    while (this.#isDirty && this.#life !== "done") {
      this.#isDirty = false;
      // Changes that come together are handled together.
      await new Promise<void>((resolve) => this.#parts.clock.defer(resolve));
      try {
        await this.#once();
      } catch (error) {
        const { namespace, name } = podIdentity(this.#pod);
        this.#parts.log.warn("Pod could not be synced", { pod: `${namespace}/${name}`, error });
        this.#again(reportRetryMs);
      }
    }
  }

  async #once(): Promise<void> {
    if (this.#life === "stopping") return;
    await this.#createWorkers();
    if (this.#life === "gone" || this.#pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    const phase = this.#pod.status?.phase;
    if (phase === "Succeeded" || phase === "Failed") return this.#removeSandbox();
    if (this.#evicted !== undefined) return this.#evict(this.#evicted);
    if (await this.#prepare()) await this.#drive();
    await this.#report();
  }

  /** Its files go at once, because they are why it ends; its logs stay as long as its object. */
  async #evict(why: string): Promise<void> {
    await Promise.all([...this.#containers.values()].map((worker) => this.#stopContainer(worker, evictionGraceMs)));
    await this.#parts.reports.writeStatus(this.#pod, evictedStatus(this.status(), why, timestamp(this.#parts.clock)));
    await this.#removeSandbox();
    await this.#parts.volumes.empty(this.uid);
  }

  /** What an agent before this one started goes on; what ended meanwhile ended as it did. */
  async #createWorkers(): Promise<void> {
    const recorded = [
      ...(this.#pod.status?.initContainerStatuses ?? []),
      ...(this.#pod.status?.containerStatuses ?? []),
    ];
    for (const container of [...(this.#pod.spec.initContainers ?? []), ...this.#pod.spec.containers]) {
      if (this.#containers.has(container.name)) continue;
      const record = recorded.find(({ name }) => name === container.name);
      const adopted = await this.#parts.runtime.adopt(this.uid, container.name);
      this.#containers.set(container.name, this.#createWorker(container, record, adopted));
    }
  }

  /** Address, sandbox and volumes; false when something is missing: it is tried again. */
  async #prepare(): Promise<boolean> {
    this.#podIP ??=
      this.#pod.spec.hostNetwork === true ? this.#parts.network.nodeAddress : this.#parts.network.addressOf(this.uid);
    const sandbox = await this.#ensureSandbox(this.#podIP);
    if (sandbox === undefined) return false;
    if (this.#volumes !== undefined) {
      await this.#parts.volumes.refresh(this.#pod);
      const files = this.#parts.hostFiles(this.#pod, this.#podIP);
      for (const worker of this.#containers.values()) worker.running?.updateFiles(files);
      return true;
    }
    try {
      this.#volumes = await this.#parts.volumes.prepare(this.#pod, sandbox);
      return true;
    } catch (error) {
      this.#parts.reports.event(this.#pod, "Warning", "FailedMount", messageOf(error));
      for (const worker of this.#containers.values()) worker.fail("ContainerCreating", messageOf(error));
      this.#again(prepareRetryMs);
      return false;
    }
  }

  /** Undefined when it cannot be made now, or its containers must end first because their namespaces are gone. */
  async #ensureSandbox(podIP: string): Promise<PodSandbox | undefined> {
    const { network, runtime } = this.#parts;
    const { hostNetwork } = this.#pod.spec;
    if (this.#sandbox !== undefined && (await runtime.adoptSandbox(this.uid)) === undefined) return this.#lostSandbox();
    try {
      this.#sandbox ??= await runtime.createSandbox({
        podUid: this.uid,
        hostname: podHostname(this.#pod),
        networkNamespace: hostNetwork !== true && network.kind === "namespace",
        ...podUser(this.#pod),
        limits: podLimits(this.#pod),
      });
      if (hostNetwork !== true) this.#attach(this.#sandbox.holderPid, podIP);
      return this.#sandbox;
    } catch (error) {
      this.#noSandbox(podIP, error);
      return undefined;
    }
  }

  /** Once for each holder, until it succeeds. */
  #attach(holderPid: number, podIP: string): void {
    if (this.#attached?.holderPid === holderPid) return;
    const done = this.#parts.network.attach(this.uid, holderPid);
    const attached = { holderPid, done };
    this.#attached = attached;
    done.catch((error: unknown) => {
      if (this.#attached !== attached) return;
      this.#attached = undefined;
      this.#noSandbox(podIP, error);
    });
  }

  #noSandbox(podIP: string, error: unknown): void {
    const message = `Failed to create pod sandbox: ${messageOf(error)}`;
    this.#parts.reports.event(this.#pod, "Warning", "FailedCreatePodSandBox", message);
    this.#parts.log.warn("Pod sandbox could not be made", { pod: this.uid, podIP, error });
    for (const worker of this.#containers.values()) worker.fail("ContainerCreating", message);
    this.#again(prepareRetryMs);
  }

  #lostSandbox(): undefined {
    const running = [...this.#containers.values()].filter((worker) => worker.running !== undefined);
    for (const worker of running) worker.killNow();
    if (running.length === 0) {
      this.#sandbox = undefined;
      const message = "Pod sandbox changed, it will be killed and re-created.";
      this.#parts.reports.event(this.#pod, "Normal", "SandboxChanged", message);
    }
    this.#again(sandboxRetryMs);
  }

  async #removeSandbox(): Promise<void> {
    const { log, network, runtime } = this.#parts;
    // What is being attached would be left behind.
    await this.#attached?.done.catch(() => {});
    this.#attached = undefined;
    // Its interface goes with its namespace in any case.
    await network
      .detach(this.uid)
      .catch((error: unknown) => log.warn("Pod could not be detached", { pod: this.uid, error }));
    await runtime.removeSandbox(this.uid);
    this.#sandbox = undefined;
  }

  async #drive(): Promise<void> {
    const policy = this.#pod.spec.restartPolicy ?? "Always";
    const initPolicy = policy === "Never" ? "Never" : "OnFailure";
    const main = this.#pod.spec.containers;
    if (this.#isOver(main) || this.#hasFailedInit(initPolicy)) return this.#stopSidecars();
    for (const container of this.#pod.spec.initContainers ?? []) {
      const worker = this.#containers.get(container.name);
      if (worker === undefined) continue;
      const isDone = isSidecar(container) ? worker.started : worker.exitCode === 0;
      if (isDone && !isSidecar(container)) continue;
      this.#ensure(worker, container, (code) => (isSidecar(container) ? true : restarts(initPolicy, code)));
      if (isDone) continue;
      for (const { name } of main) this.#containers.get(name)?.hold("PodInitializing");
      // Once the main containers run, a sidecar that restarts holds nothing back.
      if (!main.some(({ name }) => this.#containers.get(name)?.running !== undefined)) return;
    }
    for (const container of main) {
      const worker = this.#containers.get(container.name);
      if (worker !== undefined) this.#ensure(worker, container, (code) => restarts(policy, code));
    }
  }

  #ensure(worker: ContainerWorker, container: Container, restart: (exitCode: number) => boolean): void {
    const againAtMs = worker.ensureRunning(container, restart);
    if (againAtMs !== undefined) this.#again(againAtMs - this.#parts.clock.monotonic());
  }

  #isOver(main: readonly Container[]): boolean {
    const policy = this.#pod.spec.restartPolicy ?? "Always";
    const codes = main.map(({ name }) => this.#containers.get(name)?.exitCode);
    return codes.every((code) => code !== undefined && !restarts(policy, code));
  }

  #hasFailedInit(policy: "Never" | "OnFailure"): boolean {
    return (this.#pod.spec.initContainers ?? []).some((container) => {
      const code = this.#containers.get(container.name)?.exitCode ?? 0;
      return !isSidecar(container) && code !== 0 && !restarts(policy, code);
    });
  }

  async #stopSidecars(): Promise<void> {
    const sidecars = (this.#pod.spec.initContainers ?? []).filter(isSidecar).toReversed();
    for (const { name } of sidecars) await this.#containers.get(name)?.stop(this.#graceMs());
  }

  /** Main containers end together, then sidecars in reverse order, then the pod's last word. */
  async #terminate(): Promise<void> {
    const graceMs = this.#life === "gone" ? 0 : this.#graceMs();
    const inits = new Set((this.#pod.spec.initContainers ?? []).map(({ name }) => name));
    const main = [...this.#containers.values()].filter(({ name }) => !inits.has(name));
    await Promise.all(main.map((worker) => this.#stopContainer(worker, graceMs)));
    for (const name of [...inits].toReversed()) {
      const worker = this.#containers.get(name);
      if (worker !== undefined) await this.#stopContainer(worker, graceMs);
    }
    await this.#removeSandbox();
    if (this.#life === "running") {
      await this.#report();
      await this.#parts.reports.removePod(this.#pod);
    }
    this.#graceTimer?.cancel();
    this.#timer?.cancel();
    await this.#parts.volumes.remove(this.uid);
    this.#parts.runtime.releaseIds(this.uid);
    this.#parts.network.release(this.uid);
    this.#life = "done";
  }

  async #stopContainer(worker: ContainerWorker, graceMs: number): Promise<void> {
    if (worker.isStarting) worker.destroy();
    await worker.stop(graceMs);
  }

  #graceMs(): number {
    const { deletionGracePeriodSeconds } = this.#pod.metadata;
    return (deletionGracePeriodSeconds ?? this.#pod.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1_000;
  }

  #shortenGrace(graceSeconds: number): void {
    this.#graceTimer?.cancel();
    this.#graceTimer = this.#parts.clock.setTimer(() => {
      for (const worker of this.#containers.values()) worker.killNow();
    }, graceSeconds * 1_000);
  }

  /** Writes the status when it differs from what was written last. */
  async #report(): Promise<void> {
    const status = this.status();
    const text = JSON.stringify(status);
    if (text === this.#written || text === JSON.stringify(this.#pod.status)) return;
    await this.#parts.reports.writeStatus(this.#pod, status);
    this.#written = text;
  }

  /** Looks again after `delayMs`, or before that when somebody else asked for it: each pass asks anew. */
  #again(delayMs: number): void {
    const { clock } = this.#parts;
    const dueMs = clock.monotonic() + Math.max(0, delayMs);
    if (this.#timer !== undefined && this.#timerDueMs <= dueMs) return;
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      this.wake();
    }, dueMs - clock.monotonic());
  }

  #createWorker(
    container: Container,
    recorded: ContainerStatus | undefined,
    adopted: AdoptedContainer | undefined,
  ): ContainerWorker {
    const { clock, images, network, runtime, reports } = this.#parts;
    const { namespace, name, uid } = podIdentity(this.#pod);
    const directory = this.#parts.podDirectory(uid);
    return new ContainerWorker(
      container,
      {
        clock,
        podLabel: `${name}_${namespace}(${uid})`,
        podUid: uid,
        hasImage: (image) => images.has(image),
        pullImage: (image, signal) => images.ensure(image, signal),
        describe: (it, image, attempt) =>
          describeContainer(this.#parts, {
            pod: this.#pod,
            container: it,
            image,
            attempt,
            podIP: this.#podIP ?? "",
            volumes: this.#volumes ?? new Map(),
          }),
        start: (spec) => {
          dropOldLogs(directory, container.name, Number(spec.id.split("/").at(-1)));
          return runtime.start(spec, this.#attached?.done);
        },
        probe: (it, running, handler, timeoutMs) => {
          const connect: PodNetwork["connect"] = (...to) => network.connect(...to);
          return runProbe(clock, handler, { podIP: this.#podIP ?? "", container: it, running, connect }, timeoutMs);
        },
        event: (type, reason, message, containerName) => reports.event(this.#pod, type, reason, message, containerName),
        changed: () => this.wake(),
        ended: (it, attempt, exitCode) => terminationMessage(directory, it, attempt, exitCode),
      },
      recorded,
      adopted,
    );
  }
}
