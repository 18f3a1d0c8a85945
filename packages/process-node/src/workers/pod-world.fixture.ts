/** One pod under virtual time, with a fake runtime and an API that returns what was written. */
import type { ContainerStatus, Pod, PodSpec, PodStatus } from "@setpoint/api";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import type {
  AdoptedContainer,
  ContainerExit,
  ContainerLimits,
  ContainerRuntime,
  ContainerSpec,
  ExecProcess,
  PodLimits,
  PodSandbox,
  RunningContainer,
} from "../sandbox/container-runtime.ts";
import { nodeError } from "../errors.ts";
import { fixedNetwork } from "../network/fixed-network.fixture.ts";
import type { PodParts } from "./pod-parts.ts";
import { PodWorker } from "./pod-worker.ts";

/** A process of a container: runs until the test ends it, or it is killed. */
export class FakeProcess implements RunningContainer {
  readonly id: string;
  readonly spec: ContainerSpec;
  readonly startedSeconds: number;
  readonly pid = 1_000_001;
  readonly sandboxPid = 1_000_000;
  readonly startedAtMs: number;
  readonly signals: string[] = [];
  files: Readonly<Record<string, string>> = {};
  readonly exited: Promise<ContainerExit>;
  readonly exit: (exitCode: number) => void;
  readonly #world: PodWorld;

  constructor(spec: ContainerSpec, world: PodWorld) {
    const { promise, resolve } = Promise.withResolvers<ContainerExit>();
    this.id = spec.id;
    this.spec = spec;
    this.startedSeconds = world.seconds;
    this.startedAtMs = world.clock.now();
    this.exited = promise;
    this.exit = (exitCode) => resolve({ exitCode });
    this.#world = world;
  }

  get name(): string {
    return this.id.split("/")[1] ?? "";
  }

  stop(): void {
    this.signal("SIGTERM");
  }

  signal(name: string): void {
    this.signals.push(name);
    if (name === "SIGKILL") this.exit(137);
    else if (!this.#world.isStubborn) this.exit(143);
  }

  reopenLog(): void {}

  limit(limits: ContainerLimits): void {
    this.#world.limits.push([this.name, limits]);
    if (this.#world.resizeProblem !== undefined) throw new Error(this.#world.resizeProblem);
  }

  updateFiles(files: Readonly<Record<string, string>>): void {
    this.files = files;
  }

  destroy(): void {
    this.signals.push("destroy");
    this.exit(137);
  }

  exec(command: readonly string[]): ReturnType<RunningContainer["exec"]> {
    const { promise, resolve } = Promise.withResolvers<ContainerExit>();
    this.#world.commands.push(command.join(" "));
    const code = this.#world.onExec(command, this);
    if (code !== undefined) resolve({ exitCode: code });
    return { ...newStreams(), exited: promise, resize: () => {}, kill: () => resolve({ exitCode: 137 }) };
  }

  attach(): ExecProcess {
    return { ...newStreams(), exited: this.exited, resize: () => {}, kill: () => {} };
  }
}

const newStreams = (): Pick<ExecProcess, "stdin" | "stdout" | "stderr"> => ({
  stdin: new PassThrough(),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
});

export class PodWorld {
  readonly clock = new VirtualClock(seededRandom(1));
  readonly starts: FakeProcess[] = [];
  readonly events: string[] = [];
  readonly commands: string[] = [];
  readonly statuses: PodStatus[] = [];
  readonly imagesHere = new Set<string>(["img:1", "img:2"]);
  readonly pulls: string[] = [];
  /** Whether SIGTERM is ignored. */
  isStubborn = false;
  isRemoved = false;
  /** Of the pod and of containers that ran, in the order of their changes. */
  readonly limits: [string, PodLimits | ContainerLimits][] = [];
  /** What the kernel says to new limits of a container. */
  resizeProblem: string | undefined;
  hasSandbox = false;
  /** Why no sandbox can be made. */
  sandboxProblem: string | undefined;
  /** What an agent before this one left, by container. */
  readonly left = new Map<string, AdoptedContainer>();
  hosts = "first";
  /** What a command in a container ends with; undefined: it hangs. */
  onExec: (command: readonly string[], process: FakeProcess) => number | undefined = () => 0;
  onStart: (spec: ContainerSpec) => void = () => {};
  readonly worker: PodWorker;
  readonly directory: string;
  #pod: Pod;

  constructor(spec: PodSpec, pod: Partial<Pod> = {}, left: readonly AdoptedContainer[] = []) {
    for (const each of left) this.left.set("main", each);
    this.directory = mkdtempSync(join(tmpdir(), "pod-world-"));
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
    const metadata = { name: "web", namespace: "shop", uid: "u1", ...pod.metadata };
    this.#pod = { apiVersion: "v1", kind: "Pod", ...pod, metadata, spec };
    this.worker = new PodWorker(this.#pod, this.parts());
  }

  get seconds(): number {
    return this.clock.monotonic() / 1_000;
  }

  get status(): PodStatus {
    return this.statuses.at(-1) ?? {};
  }

  container(name: string): ContainerStatus | undefined {
    return [...(this.status.containerStatuses ?? []), ...(this.status.initContainerStatuses ?? [])].find(
      (each) => each.name === name,
    );
  }

  condition(type: string): string {
    const found = this.status.conditions?.find((each) => each.type === type);
    return [found?.status, found?.reason].filter((part) => part !== undefined).join(" ");
  }

  /** The newest process of a container. */
  process(name: string): FakeProcess {
    const found = this.starts.findLast((each) => each.name === name);
    if (found === undefined) throw new Error(`container ${name} never started`);
    return found;
  }

  startsOf(name: string): number[] {
    return this.starts.filter((each) => each.name === name).map(({ startedSeconds }) => startedSeconds);
  }

  async run(seconds: number): Promise<void> {
    await this.clock.run(seconds * 1_000);
  }

  change(spec: Partial<PodSpec>, generation = this.#pod.metadata.generation): void {
    const metadata = { ...this.#pod.metadata, ...(generation === undefined ? {} : { generation }) };
    this.#pod = { ...this.#pod, metadata, spec: { ...this.#pod.spec, ...spec } };
    this.worker.update(this.#pod);
  }

  /** Another client writes the condition. */
  overwrite(type: string, status: "True" | "False"): void {
    const conditions = (this.#pod.status?.conditions ?? []).map((each) =>
      each.type === type ? { ...each, status } : each,
    );
    this.#pod = { ...this.#pod, status: { ...this.#pod.status, conditions } };
    this.worker.update(this.#pod);
  }

  delete(graceSeconds: number): void {
    const deletion = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: graceSeconds };
    this.#pod = { ...this.#pod, metadata: { ...this.#pod.metadata, ...deletion } };
    this.worker.update(this.#pod);
  }

  #runtime(): ContainerRuntime {
    const ids = { container: 0, host: 100_000, size: 65_536 };
    const sandbox: PodSandbox = { podUid: "u1", holderPid: 1, uids: ids, gids: ids, networkNamespace: false };
    return {
      name: "fake",
      version: "1",
      createSandbox: async () => {
        if (this.sandboxProblem !== undefined) throw nodeError("ERR_CONTAINER_START", this.sandboxProblem);
        this.hasSandbox = true;
        return sandbox;
      },
      adoptSandbox: async () => (this.hasSandbox ? sandbox : undefined),
      removeSandbox: async () => void (this.hasSandbox = false),
      releaseIds() {},
      limitPod: (_, limits) => void this.limits.push(["pod", limits]),
      sandboxUids: () => [],
      adopt: async (_, name) => this.left.get(name),
      start: async (spec) => {
        this.onStart(spec);
        const process = new FakeProcess(spec, this);
        this.starts.push(process);
        return process;
      },
    };
  }

  parts(): PodParts {
    return {
      clock: this.clock,
      log: silentLogger,
      nodeName: "n1",
      cpus: 2,
      memoryBytes: 2 ** 30,
      runtime: this.#runtime(),
      images: {
        has: (name) => this.imagesHere.has(name),
        ensure: async (name) => {
          this.pulls.push(name);
          if (!this.imagesHere.has(name)) throw nodeError("ERR_IMAGE_UNKNOWN", `no ${name} here`);
          return { id: `process://${name}`, name, rootDirectory: "/", config: { command: ["run"] } };
        },
      },
      network: fixedNetwork("127.64.0.1", "127.64.0.2"),
      volumes: {
        prepare: async () => new Map(),
        refresh: async () => {},
        empty: async () => {},
        remove: async () => {},
      },
      objects: {
        dataReader: async () => () => undefined,
        services: () => [],
        pullSecrets: async () => ({ found: [], missing: [] }),
      },
      reports: {
        writeStatus: async (_, status) => {
          this.statuses.push(status);
          this.#pod = { ...this.#pod, status };
          this.clock.defer(() => this.worker.update(this.#pod));
        },
        removePod: async () => void (this.isRemoved = true),
        event: (_, _type, reason, message, container = "") =>
          void this.events.push(`${container} ${reason}: ${message}`),
      },
      hostFiles: () => ({ "/etc/hosts": this.hosts }),
      podDirectory: (uid) => join(this.directory, uid),
    };
  }
}

/** A container with the image that is there. */
export const main = { name: "main", image: "img:1" } as const;
