/** WebSockets to what runs in pods: exec, attach and port-forward. */
import { isStatus, SetpointError, type Status } from "@setpoint/apimachinery";
import type { WebSocket } from "ws";
import { fixedHeaders, type HttpConnection, tlsOptions, TokenSource } from "./connection-options.ts";
import { openSocket } from "./open-socket.ts";

export interface PodSocketOptions {
  readonly connection: HttpConnection;
  readonly namespace: string;
  readonly pod: string;
  readonly subresource: "exec" | "attach" | "portforward";
  readonly query: URLSearchParams;
  readonly protocol: string;
  readonly signal?: AbortSignal | undefined;
  /** Names the error: what could not be done, and its code. */
  readonly what: string;
  readonly code: string;
}

/** An open socket that is paused: frames may have come with the response, and wait for a listener. */
export async function openPodSocket(options: PodSocketOptions): Promise<WebSocket> {
  const { connection, namespace, pod, subresource, query } = options;
  const credential = (await connection.credential?.(false)) ?? {};
  const token = credential.token ?? new TokenSource(connection).current();
  const headers = { ...fixedHeaders(connection), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const place = `${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/${subresource}`;
  const base = connection.server.replace(/^http/, "ws").replace(/\/$/, "");
  const tunnel = connection.proxy === undefined ? undefined : await openSocket(connection, credential);
  // Loaded when it is needed: most operators never open one, and all would wait for it at their start.
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(`${base}/api/v1/namespaces/${place}?${query.toString()}`, [options.protocol], {
    headers,
    ...tlsOptions(connection, credential),
    ...(tunnel === undefined ? {} : { createConnection: () => tunnel }),
  });
  // A listener from the start: "error" may come at any time, and without one it ends the process.
  socket.on("error", () => undefined);
  await opened(socket, options);
  return socket;
}

function opened(socket: WebSocket, { what, code, signal }: PodSocketOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => socket.terminate();
    const fail = (text: string, cause?: unknown): void => {
      signal?.removeEventListener("abort", onAbort);
      const error = new SetpointError(code, `${what}: ${text}`, { cause });
      reject(signal?.aborted === true ? signal.reason : error);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once("open", () => {
      signal?.removeEventListener("abort", onAbort);
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

export function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isStatus(value)) return value;
    // Kubelet's last frame carries a Status without its kind.
    return typeof value === "object" && value !== null && "status" in value ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}
