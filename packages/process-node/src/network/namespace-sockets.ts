/** Sockets in another network namespace, opened by a child process that hands them over. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket as UdpSocket } from "node:dgram";
import { type Server, Socket } from "node:net";
import { nodeError } from "../errors.ts";
import { enterNamespace, type NetworkNamespace } from "./namespace-holder.ts";

export interface SocketRequest {
  readonly id: number;
  readonly kind: "connect" | "listen" | "bind" | "cancel";
  readonly address: string;
  readonly port: number;
}

export type SocketAnswer =
  | { readonly id: number; readonly kind: "ready" | "opened" }
  | { readonly id: number; readonly kind: "failed"; readonly code: string; readonly message: string };

type Handle = Socket | Server | UdpSocket;

interface Waiting {
  readonly resolve: (handle: Handle) => void;
  readonly reject: (error: Error) => void;
}

// Beside this file as source, beside what is built of it otherwise.
const program = new URL(`./namespace-sockets-process.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)
  .pathname;
const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
/** The child holds no data, only descriptors on their way. */
const nodeFlags = ["--max-old-space-size=64", "--max-semi-space-size=1"];

/** Opens sockets in one namespace. A child that ends is started again with the next request. */
export class NamespaceSockets implements AsyncDisposable {
  readonly #namespace: NetworkNamespace;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #isOver = false;

  constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace;
  }

  /** A TCP connection; an abort ends it also after it is open. */
  async connect(address: string, port: number, signal?: AbortSignal): Promise<Socket> {
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const cancel = (): void => this.#cancel(id, signal?.reason);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const socket = (await this.#open({ id, kind: "connect", address, port })) as Socket;
      signal?.addEventListener("abort", () => socket.destroy(), { once: true });
      return socket;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** A TCP server that listens; the caller adds its `connection` listener at once. */
  async listen(address: string, port: number): Promise<Server> {
    return (await this.#open({ id: ++this.#lastId, kind: "listen", address, port })) as Server;
  }

  /** A UDP socket that is bound. */
  async bind(address: string, port: number): Promise<UdpSocket> {
    return (await this.#open({ id: ++this.#lastId, kind: "bind", address, port })) as UdpSocket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await ended;
  }

  #open(request: SocketRequest): Promise<Handle> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(nodeError("ERR_NETWORK", "Cannot open a socket: the node stops"));
      this.#child ??= this.#start();
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.send(request, (error) => error !== null && this.#fail(request.id, error));
    });
  }

  #start(): ChildProcess {
    const args = [...enterNamespace(this.#namespace), process.execPath, ...nodeFlags, program];
    const child = spawn("/usr/bin/env", args, {
      cwd: "/",
      env,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("message", (message: SocketAnswer, handle) => this.#answered(message, handle as Handle | undefined));
    const ended = (error?: Error): void => {
      if (this.#child === child) this.#child = undefined;
      const cause =
        error ?? nodeError("ERR_NETWORK", "Cannot open a socket in the pod network: its helper process ended");
      for (const id of this.#waiting.keys()) this.#fail(id, cause);
    };
    child.once("error", ended);
    child.once("exit", () => ended());
    return child;
  }

  #answered(message: SocketAnswer, handle: Handle | undefined): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === "failed")
      return waiting?.reject(Object.assign(new Error(message.message), { code: message.code }));
    if (handle === undefined) return;
    if (handle instanceof Socket) handle.allowHalfOpen = true;
    if (waiting !== undefined) waiting.resolve(handle);
    else if ("destroy" in handle) handle.destroy();
    else handle.close();
  }

  #cancel(id: number, reason: unknown): void {
    this.#child?.send({ id, kind: "cancel", address: "", port: 0 } satisfies SocketRequest);
    this.#fail(id, reason instanceof Error ? reason : new Error("aborted"));
  }

  #fail(id: number, error: Error): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.reject(error);
  }
}
