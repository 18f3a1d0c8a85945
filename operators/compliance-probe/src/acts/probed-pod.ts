/** What an act can do in its pod. The pod itself and a table of tests have it. */

/** The names that acts need of the pod and of what it must not reach. */
export interface Surroundings {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: string;
  readonly node: string;
  /** The address of the node. */
  readonly nodeAddress: string;
  /** The image of the pod, for pods that it tries to create. */
  readonly image: string;
  /** A namespace whose objects are no business of the pod. */
  readonly otherNamespace: string;
  /** `HOST:PORT` of services that a NetworkPolicy denies. */
  readonly deniedServices: readonly string[];
}

/** A request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it is sent without the token of the pod. */
  readonly isAnonymous?: boolean;
}

/** An answer of an HTTP server. */
export interface HttpAnswer {
  readonly code: number;
  /** The message of a Status, or the beginning of the body. */
  readonly message: string;
  readonly body: string;
}

/** A system call by its name; numbers, and `bytes` where the kernel takes the address of a text. */
export interface SystemCall {
  readonly name: SystemCallName;
  readonly arguments: readonly (number | { readonly bytes: string } | "parent")[];
}

export type SystemCallName =
  | "bpf"
  | "clone"
  | "init_module"
  | "keyctl"
  | "mknodat"
  | "mount"
  | "open_by_handle_at"
  | "ptrace"
  | "setuid"
  | "socket"
  | "syslog"
  | "unshare";

/** What the kernel answers; `error` is the name of the error, such as "EPERM", or undefined. */
export interface SystemCallAnswer {
  readonly result: number;
  readonly error: string | undefined;
}

/** Errors of files have the `code` of the kernel. */
export interface PodFiles {
  read(path: string): Promise<string>;
  list(path: string): Promise<readonly string[]>;
  /** The block devices of a folder. */
  blockDevices(path: string): Promise<readonly string[]>;
  /** Opens and closes, and changes nothing. */
  open(path: string, mode: "read" | "write"): Promise<void>;
  /** Creates an empty file or folder and removes it. */
  create(path: string, what: "file" | "folder"): Promise<void>;
  remove(path: string): Promise<void>;
  connectToSocket(path: string): Promise<void>;
}

export interface ProbedPod {
  readonly surroundings: Surroundings;
  readonly files: PodFiles;
  readonly userId: number;
  /** A folder that the pod may write to. */
  readonly scratch: string;
  /** Undefined when the pod has no token; rejects when no server answers. */
  api(request: ApiRequest): Promise<HttpAnswer | undefined>;
  /** Undefined when the Node of the image cannot call the kernel. */
  call(call: SystemCall): Promise<SystemCallAnswer | undefined>;
  /** Rejects when nothing answers within some seconds. Certificates are not checked. */
  fetch(url: string, options?: { readonly sendsToken?: boolean }): Promise<HttpAnswer>;
  resolve(host: string): Promise<string>;
  /** Rejects when no connection is made. */
  reach(host: string, port: number): Promise<void>;
  /** How many threads start, up to `max`; undefined when the Node of the image cannot start any. */
  startThreads(max: number): Promise<number | undefined>;
}

/** The code of an error of the system, such as "EACCES"; its message without one. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
