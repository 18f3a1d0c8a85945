/** Runs a command in a container, or joins what runs there, over a WebSocket (v5.channel.k8s.io). */
import { SetpointError, type Status } from "@setpoint/apimachinery";
import type { WebSocket } from "ws";
import type { HttpConnection } from "./connection-options.ts";
import { openPodSocket, parseStatus } from "./pod-stream.ts";

/** The container to attach to, and its streams. */
export interface AttachOptions {
  readonly connection: HttpConnection;
  readonly namespace: string;
  readonly pod: string;
  /** May be left out for pods with one container. */
  readonly container?: string;
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly stdout?: (chunk: Uint8Array) => void;
  readonly stderr?: (chunk: Uint8Array) => void;
  readonly tty?: boolean;
  readonly signal?: AbortSignal;
}

/** The command to run in a container, and its streams. */
export interface ExecOptions extends AttachOptions {
  readonly command: readonly string[];
}

/** How a command in a container ended. */
export interface ExecResult {
  readonly exitCode: number;
  /** The server's Status when it is not a plain exit code. */
  readonly message?: string;
}

const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const;
const protocol = "v5.channel.k8s.io";
/** More than this is not queued for a slow command; reading of stdin waits. */
const stdinBufferBytesMax = 1024 * 1024;
const stdinPollMs = 10;

/**
 * Resolves when the command has ended. Errors: `ERR_EXEC` when it could not be started or the connection was
 * cut.
 */
export function execInPod(options: ExecOptions): Promise<ExecResult> {
  return join("exec", options, options.command);
}

/**
 * Joins the streams of the container's own process; resolves when it has ended. Errors: `ERR_EXEC` when it
 * could not be joined or the connection was cut.
 */
export function attachToPod(options: AttachOptions): Promise<ExecResult> {
  return join("attach", options, []);
}

async function join(
  subresource: "exec" | "attach",
  options: AttachOptions,
  command: readonly string[],
): Promise<ExecResult> {
  const { connection, namespace, pod, signal } = options;
  signal?.throwIfAborted();
  const what = `Cannot ${subresource === "exec" ? "exec in" : "attach to"} Pod "${pod}"`;
  const query = streamQuery(options, command);
  const place = { connection, namespace, pod, subresource, query };
  const socket = await openPodSocket({ ...place, protocol, signal, what, code: "ERR_EXEC" });
  const onAbort = (): void => socket.terminate();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const result = receive(socket, options);
    if (options.stdin !== undefined) void sendStdin(socket, options.stdin, options).catch(() => socket.terminate());
    return await result;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    socket.terminate();
  }
}

function streamQuery(
  { container, stdin, stdout, stderr, tty }: AttachOptions,
  command: readonly string[],
): URLSearchParams {
  const query = new URLSearchParams();
  if (container !== undefined) query.set("container", container);
  for (const part of command) query.append("command", part);
  const flags = {
    stdin: stdin !== undefined,
    stdout: stdout !== undefined,
    stderr: stderr !== undefined,
    tty: tty === true,
  };
  for (const [name, wanted] of Object.entries(flags)) if (wanted) query.set(name, "true");
  // The server wants at least one stream.
  if (!flags.stdin && !flags.stdout && !flags.stderr) query.set("stdout", "true");
  return query;
}

function receive(socket: WebSocket, options: AttachOptions): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    let result: ExecResult | undefined;
    socket.on("message", (data: Buffer) => {
      const payload = data.subarray(1);
      if (data[0] === channel.stdout) options.stdout?.(payload);
      else if (data[0] === channel.stderr) options.stderr?.(payload);
      else if (data[0] === channel.error) result = resultOf(parseStatus(payload.toString("utf8")));
    });
    socket.once("close", () => {
      if (result !== undefined) return resolve(result);
      const message = `Cannot tell how the command in Pod "${options.pod}" ended: the connection was cut`;
      reject(options.signal?.aborted === true ? options.signal.reason : new SetpointError("ERR_EXEC", message));
    });
    socket.resume();
  });
}

function resultOf(status: Status | undefined): ExecResult {
  if (status?.status === "Success") return { exitCode: 0 };
  const text = status?.details?.causes?.find((cause) => cause.reason === "ExitCode")?.message;
  const message = status?.message ?? "the server gave no status";
  return { exitCode: text === undefined ? 1 : Number(text), message };
}

async function sendStdin(
  socket: WebSocket,
  chunks: AsyncIterable<Uint8Array>,
  { connection }: AttachOptions,
): Promise<void> {
  for await (const chunk of chunks) {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(Buffer.concat([Uint8Array.of(channel.stdin), chunk]));
    while (socket.bufferedAmount > stdinBufferBytesMax) await pause(connection);
  }
  if (socket.readyState === socket.OPEN) socket.send(Uint8Array.of(channel.close, channel.stdin));
}

function pause({ clock }: HttpConnection): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(resolve, stdinPollMs));
}
