/** What a pod worker needs of whatever runs containers; `sandbox/bubblewrap-runtime.ts` is the one that uses bubblewrap. */
import type { Readable, Writable } from "node:stream";

/** A folder or file of the host that appears in the container. */
export interface Mount {
  readonly source: string;
  /** Absolute path in the container. */
  readonly target: string;
  readonly readOnly?: boolean;
}

export interface ContainerSpec {
  /** Unique on this node and kept for logs and state: `<pod uid>/<container>/<attempt>`. */
  readonly id: string;
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
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Uint8Array) => void;
}

export interface ContainerExit {
  /** 128 + signal when a signal ended it. */
  readonly exitCode: number;
}

export interface RunningContainer {
  readonly id: string;
  /** The main process as the host sees it. */
  readonly pid: number;
  /** The process whose death ends everything in the sandbox. */
  readonly sandboxPid: number;
  readonly exited: Promise<ContainerExit>;
  /** To the main process. */
  signal(name: "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP"): void;
  /** Ends every process in the sandbox, at once. */
  destroy(): void;
  /** New text for `files` of the spec; those that it did not have are left out. */
  updateFiles(files: Readonly<Record<string, string>>): void;
  exec(command: readonly string[], options?: ExecOptions): ExecProcess;
}

export interface ExecOptions {
  readonly tty?: boolean;
}

export interface ExecProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ContainerExit>;
  kill(): void;
}

export interface ContainerRuntime {
  readonly name: string;
  readonly version: string;
  /** Resolves when the main process runs; rejects with ERR_CONTAINER_START when it cannot be started. */
  start(spec: ContainerSpec): Promise<RunningContainer>;
}
