/** Why a probe got no answer, in the sentences of kubelet: people and their tools search for them. */
import { lookupTable, messageOf } from "@setpoint/apimachinery";
import type { ProbeHandler } from "../cluster/pod.ts";

/** Where a probe goes. */
export interface ProbedEndpoint {
  readonly host: string;
  readonly port: number;
}

const connectReasons: Readonly<Record<string, string>> = lookupTable({
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
});

/** `error` is what the attempt ended with; `timeoutMs` is there when its time ran out. */
export function probeFailure(
  handler: ProbeHandler,
  endpoint: ProbedEndpoint,
  error: unknown,
  timeoutMs: number | undefined,
): string {
  if (handler.httpGet !== undefined)
    return `Get "${urlOf(handler.httpGet, endpoint)}": ${httpReason(endpoint, error, timeoutMs)}`;
  if (handler.tcpSocket !== undefined)
    return timeoutMs === undefined ? dialReason(endpoint, error) : `${dial(endpoint)}: i/o timeout`;
  return timeoutMs === undefined ? messageOf(error) : `timed out after ${timeoutMs / 1_000}s`;
}

function httpReason(endpoint: ProbedEndpoint, error: unknown, timeoutMs: number | undefined): string {
  if (timeoutMs !== undefined) return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
  return codeOf(error) === "ECONNRESET" ? "EOF" : dialReason(endpoint, error);
}

function dialReason(endpoint: ProbedEndpoint, error: unknown): string {
  const reason = connectReasons[codeOf(error)];
  return reason === undefined ? messageOf(error) : `${dial(endpoint)}: ${reason}`;
}

const dial = (endpoint: ProbedEndpoint): string => `dial tcp ${hostPort(endpoint)}`;
const hostPort = ({ host, port }: ProbedEndpoint): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? "";

function urlOf(
  { scheme = "HTTP", path = "/" }: NonNullable<ProbeHandler["httpGet"]>,
  endpoint: ProbedEndpoint,
): string {
  return `${scheme.toLowerCase()}://${hostPort(endpoint)}${path.startsWith("/") ? "" : "/"}${path}`;
}
