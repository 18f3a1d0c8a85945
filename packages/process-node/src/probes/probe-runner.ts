/** One attempt of a probe or lifecycle handler. */
import type { Container } from "@setpoint/api";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "@setpoint/host";
import type { RunningContainer } from "../sandbox/container-runtime.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { ProbeHandler } from "../cluster/pod.ts";
import { checkGrpcHealth } from "./grpc-health.ts";
import { type ProbedEndpoint, probeFailure } from "./probe-failure.ts";

export interface ProbeTarget {
  readonly podIP: string;
  readonly container: Container;
  readonly running: RunningContainer;
  readonly connect: PodNetwork["connect"];
}

export type ProbeResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** More of a command's output than this says nothing more. */
const outputBytesMax = 1_024;

export async function runProbe(
  clock: Clock,
  handler: ProbeHandler,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const abort = new AbortController();
  const timer = clock.setTimer(() => abort.abort(), timeoutMs);
  try {
    if (handler.httpGet !== undefined) return await httpGet(handler.httpGet, target, abort.signal);
    if (handler.tcpSocket !== undefined) return await tcpSocket(handler.tcpSocket, target, abort.signal);
    if (handler.exec !== undefined) return await exec(handler.exec.command ?? [], target, abort.signal);
    if (handler.grpc !== undefined) return await grpc(handler.grpc, target, abort.signal);
    return { ok: true };
  } catch (error) {
    const elapsedMs = abort.signal.aborted ? timeoutMs : undefined;
    return { ok: false, message: probeFailure(handler, endpointOf(handler, target), error, elapsedMs) };
  } finally {
    timer.cancel();
  }
}

function endpointOf(handler: ProbeHandler, { podIP, container }: ProbeTarget): ProbedEndpoint {
  const { host = podIP, port = 0 } = handler.httpGet ?? handler.tcpSocket ?? {};
  return { host, port: portNumber(port, container) };
}

export function portNumber(port: number | string, container: Container): number {
  const number = typeof port === "number" ? port : Number(port);
  return Number.isNaN(number) ? (container.ports?.find(({ name }) => name === port)?.containerPort ?? 0) : number;
}

async function httpGet(
  probe: NonNullable<ProbeHandler["httpGet"]>,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const isSecure = probe.scheme === "HTTPS";
  const headers = Object.fromEntries((probe.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const host = probe.host ?? target.podIP;
  const port = portNumber(probe.port, target.container);
  const socket = await target.connect(host, port, signal);
  const options = {
    host,
    port,
    // A probe asks whether the program answers, not who it is.
    createConnection: () => (isSecure ? secured(socket, host) : socket),
    path: probe.path ?? "/",
    headers: { "user-agent": "kube-probe/1.36", accept: "*/*", ...headers },
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestHttps : requestHttp)(options, (response) => {
      const code = response.statusCode ?? 0;
      response.resume();
      request.destroy();
      const ok = code >= 200 && code < 400;
      resolve(ok ? { ok } : { ok: false, message: `HTTP probe failed with statuscode: ${code}` });
    });
    request.once("error", reject);
    request.end();
  }).finally(() => socket.destroy()) as Promise<ProbeResult>;
}

function secured(socket: Socket, host: string): Socket {
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ socket, rejectUnauthorized: false, ...servername });
}

async function tcpSocket(
  probe: NonNullable<ProbeHandler["tcpSocket"]>,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const port = portNumber(probe.port, target.container);
  (await target.connect(probe.host ?? target.podIP, port, signal)).destroy();
  return { ok: true };
}

async function grpc(
  { port, service = "" }: NonNullable<ProbeHandler["grpc"]>,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const socket = await target.connect(target.podIP, port, signal);
  const message = await checkGrpcHealth(socket, `http://${target.podIP}:${port}`, service, signal);
  return message === undefined ? { ok: true } : { ok: false, message };
}

async function exec(command: readonly string[], target: ProbeTarget, signal: AbortSignal): Promise<ProbeResult> {
  const child = target.running.exec(command);
  child.stdin.end();
  let output = "";
  const collect = (chunk: Buffer): void => {
    if (output.length < outputBytesMax) output += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  signal.addEventListener("abort", () => child.kill(), { once: true });
  const { exitCode } = await child.exited;
  signal.throwIfAborted();
  return exitCode === 0
    ? { ok: true }
    : { ok: false, message: output.trim() || `command ended with exit code ${exitCode}` };
}
