/** Reaches a port of a pod through the API server (WebSocket, v4.channel.k8s.io). */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { SetpointError } from "@setpoint/apimachinery";
import type { WebSocket } from "ws";
import type { HttpConnection } from "./connection-options.ts";
import { openPodSocket } from "./pod-stream.ts";

/** One port of one pod. */
export interface PodPortOptions {
  readonly connection: HttpConnection;
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  readonly signal?: AbortSignal;
}

const protocol = "v4.channel.k8s.io";
const channel = { data: 0, error: 1 } as const;
/** The first frame of each channel says the port, in two bytes. */
const portFrameBytes = 2;

/**
 * One connection to a port of a pod. Errors: `ERR_PORT_FORWARD` when nothing listens there or the server
 * refuses.
 */
export async function connectToPod(options: PodPortOptions): Promise<Duplex> {
  const { connection, namespace, pod, port, signal } = options;
  signal?.throwIfAborted();
  const what = `Cannot connect to port ${port} of Pod "${pod}"`;
  const query = new URLSearchParams({ ports: String(port) });
  const place = { connection, namespace, pod, subresource: "portforward" as const, query };
  const socket = await openPodSocket({ ...place, protocol, signal, what, code: "ERR_PORT_FORWARD" });
  const onAbort = (): void => socket.terminate();
  signal?.addEventListener("abort", onAbort, { once: true });
  socket.once("close", () => signal?.removeEventListener("abort", onAbort));
  return streamOf(socket, what);
}

function streamOf(socket: WebSocket, what: string): Duplex {
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (chunk: Buffer, _, done) => socket.send(Buffer.concat([Uint8Array.of(channel.data), chunk]), done),
    // The protocol knows no end of one direction: what was sent is sent when the socket closes.
    final: (done) => {
      socket.close();
      done();
    },
    destroy: (error, done) => {
      socket.terminate();
      done(error);
    },
  });
  const announced = new Set<number>();
  socket.on("message", (data: Buffer) => {
    const [number = channel.error] = data;
    if (!announced.has(number) && data.length === 1 + portFrameBytes) return void announced.add(number);
    const payload = data.subarray(1);
    if (number === channel.error) {
      stream.destroy(new SetpointError("ERR_PORT_FORWARD", `${what}: ${payload.toString("utf8").trim()}`));
    } else if (!stream.push(payload)) socket.pause();
  });
  socket.once("close", () => stream.push(null));
  return stream;
}

/** A listening local port. Disposing of it closes the port and its connections. */
export interface PortForward extends AsyncDisposable {
  /** The port on this machine. */
  readonly localPort: number;
}

/** Where to listen on this machine's loopback, and where each connection goes. */
export interface ForwardConnectionsOptions {
  /** Default: any that is free. */
  readonly localPort?: number;
  /** Opens the other end of one connection. The signal is aborted when the port is no longer forwarded. */
  readonly open: (signal: AbortSignal) => Promise<Duplex>;
  /** Told when a connection cannot be made or breaks. */
  readonly onError?: (error: unknown) => void;
  readonly signal?: AbortSignal;
}

/** The pod's port to forward, and the local port to listen on. */
export interface ForwardPortOptions extends PodPortOptions, Omit<ForwardConnectionsOptions, "open"> {}

/** Listens on this machine's loopback and gives every connection one of its own to the pod. */
export function forwardPort(options: ForwardPortOptions): Promise<PortForward> {
  return forwardConnections({ ...options, open: (signal) => connectToPod({ ...options, signal }) });
}

/** Listens on this machine's loopback and joins every connection with one that `open` makes. */
export async function forwardConnections(options: ForwardConnectionsOptions): Promise<PortForward> {
  const ending = new AbortController();
  const server = createServer((local) => {
    local.on("error", () => undefined);
    void bridge(local, options, ending.signal);
  });
  const open = new Set<{ destroy(): void }>();
  server.on("connection", (local) => {
    open.add(local);
    local.once("close", () => open.delete(local));
  });
  await listening(server, options.localPort ?? 0);
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the port is no longer forwarded"));
    for (const local of open) local.destroy();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  options.signal?.addEventListener("abort", () => void stop(), { once: true });
  // It listens on a port, not on a path.
  const { port } = server.address() as AddressInfo;
  return { localPort: port, [Symbol.asyncDispose]: stop };
}

/** Joins one connection of this machine with one of its own to the other end. */
async function bridge(local: Socket, { open, onError }: ForwardConnectionsOptions, ending: AbortSignal): Promise<void> {
  // A client that is gone waits for nobody.
  const gone = new AbortController();
  local.once("close", () => gone.abort(new Error("the client has closed the connection")));
  const signal = AbortSignal.any([ending, gone.signal]);
  try {
    const remote = await open(signal);
    remote.on("error", (error) => {
      onError?.(error);
      local.destroy();
    });
    if (local.destroyed) return void remote.destroy();
    local.once("close", () => remote.destroy());
    local.pipe(remote, { end: false }).pipe(local);
  } catch (error) {
    if (!signal.aborted) onError?.(error);
    local.destroy();
  }
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}
