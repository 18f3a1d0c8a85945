/** Runs a command in a container over a WebSocket (v5.channel.k8s.io). */
import { isStatus, SetpointError, type Status } from "@setpoint/apimachinery";
import { WebSocket } from "ws";
import { fixedHeaders, type HttpConnection, tlsOptions, TokenSource } from "./connection-options.ts";

export interface ExecOptions {
  readonly connection: HttpConnection;
  readonly namespace: string;
  readonly pod: string;
  /** May be left out for pods with one container. */
  readonly container?: string;
  readonly command: readonly string[];
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly stdout?: (chunk: Uint8Array) => void;
  readonly stderr?: (chunk: Uint8Array) => void;
  readonly tty?: boolean;
  readonly signal?: AbortSignal;
}

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

/** Resolves when the command has ended. Errors: `ERR_EXEC` when it could not be started or the connection was cut. */
export async function execInPod(options: ExecOptions): Promise<ExecResult> {
  options.signal?.throwIfAborted();
  const socket = await open(options);
  const onAbort = (): void => socket.terminate();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const result = receive(socket, options);
    if (options.stdin !== undefined) void sendStdin(socket, options.stdin, options).catch(() => socket.terminate());
    return await result;
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
    socket.terminate();
  }
}

async function open(options: ExecOptions): Promise<WebSocket> {
  const { connection } = options;
  const credential = (await connection.credential?.(false)) ?? {};
  const token = credential.token ?? new TokenSource(connection).current();
  const headers = { ...fixedHeaders(connection), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const url = `${connection.server.replace(/^http/, "ws").replace(/\/$/, "")}${execPath(options)}`;
  const socket = new WebSocket(url, [protocol], {
    headers,
    ...tlsOptions(connection, credential),
  });
  // A listener from the start: "error" may come at any time, and without one it ends the process.
  socket.on("error", () => undefined);
  await opened(socket, options);
  return socket;
}

function execPath({ namespace, pod, container, command, stdin, stdout, stderr, tty }: ExecOptions): string {
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
  const place = `${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
  return `/api/v1/namespaces/${place}/exec?${query.toString()}`;
}

function opened(socket: WebSocket, { pod, signal }: ExecOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => socket.terminate();
    const fail = (text: string, cause?: unknown): void => {
      signal?.removeEventListener("abort", onAbort);
      const error = new SetpointError("ERR_EXEC", `Cannot exec in Pod "${pod}": ${text}`, { cause });
      reject(signal?.aborted === true ? signal.reason : error);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once("open", () => {
      signal?.removeEventListener("abort", onAbort);
      // Frames may have come with the answer; they wait until somebody listens.
      socket.pause();
      resolve();
    });
    socket.once("error", (error) => fail(error.message, error));
    socket.once("unexpected-response", (_, response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () => fail(refusalText(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8"))));
    });
  });
}

function refusalText(code: number, body: string): string {
  const status = parseStatus(body);
  return status?.message ?? `the server answered ${code}: ${body.trim()}`;
}

function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isStatus(value)) return value;
    // Kubelet's last frame carries a Status without its kind.
    return typeof value === "object" && value !== null && "status" in value ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}

function receive(socket: WebSocket, options: ExecOptions): Promise<ExecResult> {
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
  { connection }: ExecOptions,
): Promise<void> {
  for await (const chunk of chunks) {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(Buffer.concat([Uint8Array.of(channel.stdin), chunk]));
    while (socket.bufferedAmount > stdinBufferBytesMax) await pause(connection);
  }
  if (socket.readyState === WebSocket.OPEN) socket.send(Uint8Array.of(channel.close, channel.stdin));
}

function pause({ clock }: HttpConnection): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(resolve, stdinPollMs));
}
