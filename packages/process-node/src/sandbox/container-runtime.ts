/**
 * Runs the containers of pods, as the CRI does for a kubelet; `sandbox/oci-runtime.ts` does it with crun and
 * conmon.
 */
import type { Readable, Writable } from "node:stream";
import type { PodIds } from "../host/id-range.ts";
import type { TerminalSize } from "./terminal-relay.ts";

/** A folder or file of the host that appears in the container. */
export interface Mount {
  readonly source: string;
  /** Absolute path in the container. */
  readonly target: string;
  readonly readOnly?: boolean;
  /** Beneath `source`; resolved without following a link, because containers may write there. */
  readonly subPath?: string;
  /**
   * The source keeps its ids on disk for the next pod, as a persistent volume does; see
   * `sandbox/oci-mounts.ts`.
   */
  readonly ownIds?: boolean;
  /** Its devices can be used. */
  readonly hasDevices?: boolean;
}

/**
 * What a container may do beyond being a process of its pod; `pod/container-security.ts` reads it from the
 * pod.
 */
export interface ContainerSecurity {
  /** `CAP_…`: the bounding set, and what a container of user 0 starts with. */
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  /** All rights of the host, if the pod has the host's users. */
  readonly isPrivileged?: boolean;
  /** "default" is `sandbox/seccomp/default-profile.ts`. */
  readonly seccomp: "default" | "unconfined";
  readonly supplementalGroups: readonly number[];
}

/** Limits that a cgroup enforces where the host has one; see `sandbox/oci-resources.ts`. */
export interface ContainerLimits {
  readonly cpuMillis?: number;
  readonly cpuRequestMillis?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
}

/** Limits of all containers of a pod together. */
export interface PodLimits {
  readonly memoryBytes?: number;
  readonly cpuMillis?: number;
  readonly processes?: number;
}

/** Namespaces of the host that a pod shares instead of having its own; it has the host's users too. */
export interface HostNamespaces {
  readonly ipc: boolean;
  readonly pid: boolean;
}

export interface PodSandboxSpec {
  readonly podUid: string;
  readonly hostname: string;
  /** Without it the pod keeps the node's network namespace, as on the loopback network. */
  readonly networkNamespace: boolean;
  /** A process in the network namespace that the pod joins, for a pod that shares its node's. */
  readonly networkOf?: number;
  /** For a pod with rights over the host. */
  readonly host?: HostNamespaces;
  /** The user of the pod's containers, for a host that gives the node no more than one id. */
  readonly user: number;
  /** Their group, for the same host. */
  readonly group: number;
  readonly limits?: PodLimits;
  /** Of the pod's own namespaces; default: as the kernel has them. */
  readonly kernelSettings?: readonly KernelSetting[];
}

/** A file below /proc/sys, and what it is set to. */
export interface KernelSetting {
  readonly path: string;
  readonly value: string;
}

/** The namespaces that the containers of a pod share, held by a process that does nothing else. */
export interface PodSandbox extends PodIds {
  readonly podUid: string;
  readonly holderPid: number;
  readonly networkNamespace: boolean;
  readonly host?: HostNamespaces;
}

export interface ContainerSpec {
  /** Unique on this node and kept for logs and state: `<pod uid>/<container>/<attempt>`. */
  readonly id: string;
  /** The name of the image, for messages. */
  readonly image: string;
  /** The image's root file system on the host. */
  readonly rootDirectory: string;
  /** Complete: entry point and arguments, `$(VAR)` already expanded. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly hostname: string;
  readonly mounts: readonly Mount[];
  /** Text files that only this container has: resolv.conf, hosts, hostname. */
  readonly files: Readonly<Record<string, string>>;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  /** Nothing but volumes can be written. */
  readonly readOnlyRoot?: boolean;
  readonly security?: ContainerSecurity;
  readonly limits?: ContainerLimits;
  /** The signal that asks its program to end; default: SIGTERM. */
  readonly stopSignal?: number;
  /** A process of the host whose process namespace the container has too. */
  readonly joinedProcess?: number;
  /** Whether its process has a terminal. */
  readonly tty?: boolean;
  /** Absent: none. */
  readonly stdin?: ContainerStdin;
}

/** What a container reads: nothing, the input of its first client, or that of each client in turn. */
export type ContainerStdin = "none" | "once" | "open";

export interface ContainerExit {
  /** 128 + signal when a signal ended it. */
  readonly exitCode: number;
  /** Absent: now. */
  readonly finishedAtMs?: number;
  /** Whether the kernel ended it because it used more memory than it may. */
  readonly oomKilled?: boolean;
  /** Whether it ended for an unknown reason; the code is then 137. */
  readonly isUnknown?: boolean;
}

export interface RunningContainer {
  readonly id: string;
  /** The main process as the host sees it. */
  readonly pid: number;
  /** The process whose death ends everything in the sandbox. */
  readonly sandboxPid: number;
  /** As it is recorded on the host, so that every agent reports the same time. */
  readonly startedAtMs: number;
  readonly exited: Promise<ContainerExit>;
  /** Asks the main process to end, with the signal that its image names, else SIGTERM. */
  stop(): void;
  /** To the main process. */
  signal(name: "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP"): void;
  /** Ends every process in the sandbox, at once. */
  destroy(): void;
  /** Changes its limits. Throws what the kernel refuses. */
  limit(limits: ContainerLimits): void;
  /** New text for `files` of the spec; those that it did not have are left out. */
  updateFiles(files: Readonly<Record<string, string>>): void;
  exec(command: readonly string[], options?: ExecOptions): ExecProcess;
  /** The streams of its main process from now on. They end with it; `kill` only leaves it. */
  attach(options: AttachOptions): ExecProcess;
  /** Further output goes to a new file of the same name, after a rotation. */
  reopenLog(): void;
}

export interface ExecOptions {
  readonly tty?: boolean;
}

export interface AttachOptions {
  /** Whether the client has input for the process. */
  readonly stdin: boolean;
}

export interface ExecProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ContainerExit>;
  /** Of its terminal; without one, nothing. */
  resize(size: TerminalSize): void;
  kill(): void;
}

/**
 * The newest run of a container that an earlier agent started: still running, or ended while no agent was
 * running.
 */
export interface AdoptedContainer {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly running?: RunningContainer;
  readonly exit?: ContainerExit;
}

/** Sandboxes and containers outlive the agent that created them. */
export interface ContainerRuntime {
  readonly name: string;
  readonly version: string;
  /** Creates the pod's namespaces, or returns those that are still held. Rejects with ERR_CONTAINER_START. */
  createSandbox(spec: PodSandboxSpec): Promise<PodSandbox>;
  /** Changes the limits of all containers of the pod together. */
  limitPod(podUid: string, limits: PodLimits): void;
  /** The sandbox of an earlier agent; undefined when its namespaces have ended. */
  adoptSandbox(podUid: string): Promise<PodSandbox | undefined>;
  /** Kills every process of the pod. The pod keeps its range of ids, because its files have them. */
  removeSandbox(podUid: string): Promise<void>;
  /** Called when the pod and all its files are removed. */
  releaseIds(podUid: string): void;
  /** The pods that have a sandbox or a container on this host. */
  sandboxUids(): readonly string[];
  /**
   * Starts a container in the pod's sandbox. It is created at once, but its program starts after `ready`.
   * Resolves when it runs; rejects with ERR_CONTAINER_START when it cannot be started, and with the error of
   * `ready`.
   */
  start(spec: ContainerSpec, ready?: Promise<unknown>): Promise<RunningContainer>;
  /** The newest run of a container that an earlier agent started; undefined when there is none. */
  adopt(podUid: string, container: string): Promise<AdoptedContainer | undefined>;
}
