import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "@setpoint/apimachinery";
import { type Clock, sleep } from "@setpoint/host";
import type {
  AdoptedContainer,
  ContainerRuntime,
  ContainerSpec,
  PodLimits,
  PodSandbox,
  PodSandboxSpec,
  RunningContainer,
} from "./container-runtime.ts";
import { attachToContainer } from "./attach-relay.ts";
import { nodeError } from "../errors.ts";
import { endProcesses } from "../host/end-processes.ts";
import { ProcessList } from "../host/process-list.ts";
import { launch } from "../host/launch.ts";
import { identify, isAlive, signalProcess } from "../host/process-identity.ts";
import { conmonCommand, conmonPid, createByConmon, crunProgram, reopenLog } from "./conmon.ts";
import {
  attemptsOf,
  bundleFolder,
  type ContainerId,
  type ContainerRecord,
  containersOf,
  dropOldBundles,
  parseContainerId,
  readRecord,
  toolName,
  writeRecord,
} from "./container-record.ts";
import { ExitWatch, type WatchedContainer } from "./exit-watch.ts";
import { detectCgroups, type HostCgroups } from "./host-cgroups.ts";
import { IdRanges } from "./id-ranges.ts";
import { type OciBundle, ociBundle } from "./oci-config.ts";
import type { OciResources } from "./oci-resources.ts";
import { execInContainer } from "./oci-exec.ts";
import { writeOwnFiles } from "./own-files.ts";
import { PodSandboxes } from "./pod-sandboxes.ts";
import { StartGate } from "./start-gate.ts";
import { findProgram, inImage } from "../images/root-path.ts";
import { isMountedAsFolder } from "../volumes/path-beneath.ts";
import { writeSkeleton } from "./root-layout.ts";
import { OwnUserNamespace, rootRights, type RuntimeRights } from "./runtime-rights.ts";
import { withHostRights } from "./host-rights.ts";
import { withIdsOf } from "./single-id.ts";
import { stageCommand } from "./stage.ts";

export interface OciRuntimeOptions {
  readonly clock: Clock;
  /**
   * A folder of the agent's own for bundles, states and exit codes: in memory, because bundles hold variables
   * of Secrets.
   */
  readonly directory: string;
  /** Where the pods' ranges of ids are kept, on disk as files of the pods are. */
  readonly idsFile: string;
  readonly version: string;
  /** Where the output of a container goes. */
  readonly logFile: (podUid: string, container: string, attempt: number) => string;
}

/** A log that grows faster than the agent rotates it starts again at this size. */
const logBytesMax = 20 * 1024 * 1024;
/** What a container may write into its root and its /tmp, in memory. */
const rootBytesMax = 256 * 1024 * 1024;
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const killMsMax = 5_000;
/** Pods that begin at the same time: enough to keep the processors busy while some of them wait. */
const startsMax = Math.max(4, 2 * availableParallelism());
/** How long what is left of a pod may take to end. */
const endMsMax = 5_000;
/** Errors that do not say that the container itself cannot be started. */
const passedOn: ReadonlySet<unknown> = new Set(["ERR_CONTAINER_CONFIG", "ERR_NETWORK"]);

/**
 * Runs containers by crun under conmon. They outlive the process that started them, and the next one adopts
 * them.
 */
export class OciRuntime implements ContainerRuntime, Disposable {
  readonly name = "process";
  readonly version: string;
  readonly cgroups: HostCgroups;
  readonly #options: OciRuntimeOptions;
  readonly #privileged: boolean = process.getuid?.() === 0;
  readonly #rights: RuntimeRights;
  readonly #ids: IdRanges;
  readonly #sandboxes: PodSandboxes;
  readonly #exits: ExitWatch;
  readonly #processes: ProcessList;
  readonly #stage: string;
  readonly #gate: StartGate = new StartGate(startsMax);
  /** Starts under way, by container. */
  readonly #starts = new Map<string, { readonly podUid: string; readonly over: Promise<unknown> }>();
  /** Pods that are being removed: none of their containers starts any more. */
  readonly #ending = new Set<string>();

  constructor(options: OciRuntimeOptions) {
    const { clock, directory, version } = options;
    this.#options = options;
    this.version = version;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.cgroups = detectCgroups(createHash("sha256").update(resolve(directory)).digest("hex").slice(0, 12));
    this.#rights = this.#privileged ? rootRights : new OwnUserNamespace(directory);
    this.#ids = new IdRanges(options.idsFile);
    this.#sandboxes = new PodSandboxes(directory, this.#ids, this.#privileged, this.#rights);
    this.#processes = new ProcessList(clock);
    this.#exits = new ExitWatch(clock, join(directory, ".exits"));
    // Each start mounts something of its own there, which no other process sees.
    this.#stage = this.#privileged ? "/run/setpoint-stage" : join(directory, ".stage");
    mkdirSync(this.#stage, { recursive: true, mode: 0o755 });
  }

  [Symbol.dispose](): void {
    this.#exits.close();
    this.cgroups.close();
    // Pods that go on without an agent keep the way to them for the next one.
    if (this.sandboxUids().length === 0) this.#rights.release();
  }

  /** Why this host lets no pod start, a sentence without its end; undefined when it does. */
  async problem(): Promise<string | undefined> {
    try {
      await this.#rights.obtain();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  createSandbox(spec: PodSandboxSpec): Promise<PodSandbox> {
    this.cgroups.limitPod(spec.podUid, spec.limits ?? {});
    return this.#gate.enter(() => this.#sandboxes.create(spec));
  }

  limitPod(podUid: string, limits: PodLimits): void {
    this.cgroups.limitPod(podUid, limits);
  }

  async adoptSandbox(podUid: string): Promise<PodSandbox | undefined> {
    return this.#sandboxes.find(podUid);
  }

  /** Of every pod of which something is left. */
  sandboxUids(): readonly string[] {
    return [...new Set([...this.#sandboxes.uids(), ...this.cgroups.podUids()])];
  }

  releaseIds(podUid: string): void {
    this.#ids.release(podUid);
  }

  async removeSandbox(podUid: string): Promise<void> {
    const { directory } = this.#options;
    const ids = containersOf(directory, podUid).flatMap((container) =>
      attemptsOf(directory, podUid, container).map((attempt) => ({ podUid, container, attempt })),
    );
    this.#ending.add(podUid);
    try {
      await Promise.all(ids.map((id) => this.#removeContainer(id)));
      await this.#endStarts(podUid);
      this.#sandboxes.remove(podUid);
      await this.#removeGroups(podUid);
    } finally {
      this.#ending.delete(podUid);
    }
  }

  /**
   * A container that is being made has no record yet, and its programs do not end with this agent. Without
   * them its start fails, which removes what it has made.
   */
  async #endStarts(podUid: string): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonic() + endMsMax;
    for (;;) {
      await endProcesses(this.#processes, (line) => this.#isFor(line, podUid), clock, endMsMax);
      const starts = [...this.#starts.values()].filter((start) => start.podUid === podUid);
      if (starts.length === 0 || clock.monotonic() > deadlineMs) return;
      await Promise.race([sleep(clock, 50), Promise.all(starts.map(({ over }) => over))]);
    }
  }

  /** Of a pod, or of one of its containers: a tool is given the bundle's folder, or the container's name. */
  #isFor(commandLine: string, podUid: string, id?: ContainerId): boolean {
    const { directory } = this.#options;
    const folder = id === undefined ? join(directory, podUid, "/") : join(bundleFolder(directory, id), "/");
    const name = id === undefined ? `\0${podUid}_` : `\0${toolName(id)}\0`;
    return commandLine.includes(folder) || (commandLine.includes(join(directory, "/")) && commandLine.includes(name));
  }

  async #removeGroups(podUid: string): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonic() + endMsMax;
    while (!this.cgroups.removePod(podUid) && clock.monotonic() < deadlineMs) await sleep(clock, 10);
  }

  start(asked: ContainerSpec, ready?: Promise<unknown>): Promise<RunningContainer> {
    const { podUid } = parseContainerId(asked.id);
    const started = this.#start(asked, ready);
    const over = started.then(
      () => {},
      () => {},
    );
    const start = { podUid, over };
    this.#starts.set(asked.id, start);
    void over.then(() => this.#starts.get(asked.id) === start && this.#starts.delete(asked.id));
    return started;
  }

  async #start(asked: ContainerSpec, ready?: Promise<unknown>): Promise<RunningContainer> {
    const id = parseContainerId(asked.id);
    const sandbox = this.#sandboxes.find(id.podUid);
    if (sandbox === undefined) throw startError(asked, "the pod has no namespaces any more");
    const spec = withIdsOf(sandbox, sandbox.host === undefined ? asked : withHostRights(asked));
    checkProgram(spec);
    const bundle = bundleFolder(this.#options.directory, id);
    rmSync(bundle, { recursive: true, force: true });
    try {
      mkdirSync(join(bundle, "persist"), { recursive: true, mode: 0o700 });
      mkdirSync(dirname(this.#logFile(id)), { recursive: true, mode: 0o700 });
      this.#exits.forget(toolName(id));
      const record = await this.#gate.goOn(() => this.#create(spec, id, sandbox, bundle));
      await ready;
      if (this.#ending.has(id.podUid)) throw new Error("the pod is being removed");
      await this.#gate.goOn(() => launch(this.#crun(["start", toolName(id)])));
      const startedAtMs = this.#options.clock.now();
      const started: ContainerRecord = { ...record, startedAtMs, isStarted: true };
      writeRecord(bundle, started);
      dropOldBundles(this.#options.directory, { ...id, attempt: id.attempt - 1 });
      return this.#running(started, id, bundle);
    } catch (error) {
      await this.#removeContainer(id);
      if (passedOn.has((error as { code?: unknown }).code)) throw error;
      throw startError(spec, messageOf(error), error);
    }
  }

  async adopt(podUid: string, container: string): Promise<AdoptedContainer | undefined> {
    const { directory } = this.#options;
    for (const attempt of attemptsOf(directory, podUid, container)) {
      const id = { podUid, container, attempt };
      const bundle = bundleFolder(directory, id);
      const record = readRecord(bundle);
      if (record?.isStarted === true) return this.#adopt(record, id, bundle);
      // Its agent ended before the program ran.
      await this.#removeContainer(id);
    }
    return undefined;
  }

  async #adopt(record: ContainerRecord, id: ContainerId, bundle: string): Promise<AdoptedContainer> {
    const { attempt } = id;
    const { startedAtMs } = record;
    const exit = this.#exits.read(watched(record, id, bundle));
    if (exit === undefined) return { attempt, startedAtMs, running: this.#running(record, id, bundle) };
    await this.#forget(id);
    return { attempt, startedAtMs, exit };
  }

  async #create(spec: ContainerSpec, id: ContainerId, sandbox: PodSandbox, bundle: string): Promise<ContainerRecord> {
    const files = this.#writeFiles(spec, bundle);
    const oci = ociBundle(spec, {
      sandbox,
      stageDirectory: this.#stage,
      files,
      shiftIds: this.#privileged,
      architecture: process.arch,
      hasCgroups: this.cgroups.version !== "none",
      isFolder: isMountedAsFolder,
    });
    const owner = { uid: sandbox.uids.host, gid: sandbox.gids.host };
    const skeleton = join(bundle, "skeleton");
    mkdirSync(skeleton);
    writeSkeleton(oci.layout, skeleton, this.#privileged ? owner : undefined);
    const config = this.#config(oci, id);
    writeFileSync(join(bundle, "config.json"), JSON.stringify(config), { mode: 0o600 });
    const pid = await createByConmon(this.#createCommand(oci, spec, id, { skeleton, owner }), bundle);
    const main = identify(pid);
    if (main === undefined) throw new Error("its first process ended");
    const monitor = identify(conmonPid(bundle) ?? 0);
    const record = { spec, files, main, monitor, startedAtMs: this.#options.clock.now(), isStarted: false };
    writeRecord(bundle, record);
    return record;
  }

  #config({ config }: OciBundle, id: ContainerId): object {
    const cgroupsPath = this.cgroups.pathOf(id.podUid, groupOf(id));
    if (cgroupsPath !== undefined) return { ...config, linux: { ...config.linux, cgroupsPath } };
    const { resources, ...linux } = config.linux;
    return { ...config, linux, process: { ...config.process, rlimits: resourceLimits(resources) } };
  }

  #createCommand(
    { staged }: OciBundle,
    spec: ContainerSpec,
    id: ContainerId,
    { skeleton, owner }: { readonly skeleton: string; readonly owner: { readonly uid: number; readonly gid: number } },
  ): readonly string[] {
    const conmon = conmonCommand({
      name: toolName(id),
      bundle: bundleFolder(this.#options.directory, id),
      logFile: this.#logFile(id),
      logBytesMax,
      exitDirectory: this.#exits.directory,
      runtimeArguments: this.#runtimeArguments(),
      tty: spec.tty === true,
      stdin: spec.stdin ?? "none",
    });
    const { prepare } = this.cgroups;
    const stage = { directory: this.#stage, prepare, skeleton, owner, rootBytes: rootBytesMax, paths: staged };
    const unshare = ["/usr/bin/unshare", "--mount", "--propagation", "private"];
    return this.#rights.enter([...unshare, ...stageCommand(stage, conmon)]);
  }

  #runtimeArguments(): readonly string[] {
    return ["--root", join(this.#options.directory, ".crun"), this.cgroups.managerArgument];
  }

  /** Only the making of a container looks at the host's control groups. */
  #crun(args: readonly string[]): readonly string[] {
    return this.#rights.enter([crunProgram, ...this.#runtimeArguments(), ...args]);
  }

  #writeFiles(spec: ContainerSpec, bundle: string): Record<string, string> {
    const folder = join(bundle, "files");
    mkdirSync(folder, { recursive: true });
    return writeOwnFiles(folder, spec.files);
  }

  #logFile({ podUid, container, attempt }: ContainerId): string {
    return this.#options.logFile(podUid, container, attempt);
  }

  #running(record: ContainerRecord, id: ContainerId, bundle: string): RunningContainer {
    const { spec, main, files, startedAtMs } = record;
    const exited = this.#exits.exitOf(watched(record, id, bundle)).then(async (exit) => {
      await this.#forget(id);
      return exit;
    });
    return {
      id: spec.id,
      pid: main.pid,
      sandboxPid: main.pid,
      startedAtMs,
      exited,
      stop: () => signalProcess(main, spec.stopSignal ?? "SIGTERM"),
      signal: (name) => signalProcess(main, name),
      // The first process of a process namespace: with it the kernel ends all others.
      destroy: () => signalProcess(main, "SIGKILL"),
      reopenLog: () => reopenLog(bundle),
      limit: (limits) => this.cgroups.limitContainer(id.podUid, groupOf(id), limits),
      updateFiles: (fresh) => void writeOwnFiles(join(bundle, "files"), fresh, files),
      exec: (command, options) =>
        execInContainer({
          spec,
          bundle,
          command,
          tty: options?.tty ?? false,
          crun: (args) => this.#crun(args),
          name: toolName(id),
        }),
      attach: (options) => attachToContainer(this.#options.clock, bundle, options),
    };
  }

  /**
   * crun's state and the container's group go; its bundle and exit code stay for an agent that must know
   * them.
   */
  async #forget(id: ContainerId): Promise<void> {
    await launch(this.#crun(["delete", "--force", toolName(id)])).catch(() => {
      // There is none: it was never made, or deleted before.
    });
  }

  async #removeContainer(id: ContainerId): Promise<void> {
    const bundle = bundleFolder(this.#options.directory, id);
    const record = readRecord(bundle);
    if (record !== undefined) await this.#kill(record);
    // What made it may have ended, or be at work still, before there was a record.
    if (record?.isStarted !== true)
      await endProcesses(this.#processes, (line) => this.#isFor(line, id.podUid, id), this.#options.clock, killMsMax);
    await this.#forget(id);
    this.#exits.forget(toolName(id));
    // Its start, which fails at this moment, may still write there.
    await rm(bundle, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }

  async #kill({ main, monitor }: ContainerRecord): Promise<void> {
    const { clock } = this.#options;
    signalProcess(main, "SIGKILL");
    const deadlineMs = clock.monotonic() + killMsMax;
    const isOver = (): boolean => !isAlive(main) && (monitor === undefined || !isAlive(monitor));
    while (!isOver() && clock.monotonic() < deadlineMs) await sleep(clock, 10);
    if (monitor !== undefined) signalProcess(monitor, "SIGKILL");
  }
}

function groupOf({ container, attempt }: ContainerId): string {
  return `${container}-${attempt}`;
}

function watched({ main }: ContainerRecord, id: ContainerId, bundle: string): WatchedContainer {
  return { name: toolName(id), main, oomFile: join(bundle, "persist", "oom") };
}

/**
 * What a host without control groups can do: bounds of the kernel for each process, and for the processes of
 * the pod's users.
 */
function resourceLimits(resources: OciResources | undefined): readonly object[] {
  const limit = (type: string, value: number | undefined): readonly object[] =>
    value === undefined ? [] : [{ type, hard: value, soft: value }];
  return [...limit("RLIMIT_NPROC", resources?.pids?.limit), ...limit("RLIMIT_DATA", resources?.memory?.limit)];
}

/** Says what is missing in the words of container engines. */
function checkProgram(spec: ContainerSpec): void {
  const [name = ""] = spec.command;
  const searchPath = spec.env["PATH"] ?? defaultPath;
  if (inImage(spec.image, () => findProgram(spec.rootDirectory, name, searchPath)) !== undefined) return;
  if (spec.mounts.some(({ target }) => name.startsWith(`${target}/`))) return;
  throw startError(spec, `exec: "${name}": executable file not found in the image`);
}

function startError(spec: ContainerSpec, message: string, cause?: unknown): Error {
  return nodeError("ERR_CONTAINER_START", `Cannot start container "${spec.id}": ${message}`, cause);
}
