import { messageOf } from "@setpoint/apimachinery";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Clock, Logger } from "@setpoint/host";
import { WebSocketServer } from "ws";
import { execProtocols, runExecSession } from "./kubelet/exec-session.ts";
import { portForwardProtocols, portsMax, portsOf, runPortForwardSession } from "./kubelet/port-forward-session.ts";
import { logFile } from "./logs/container-log.ts";
import { type LogOptions, readLog } from "./logs/log-reader.ts";
import type { PodWorker } from "./pod-worker.ts";

export interface KubeletServerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The node's certificate and key, PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Who signs the certificates of clients that may ask (the API server's), PEM. */
  readonly clientCaPem: string;
  readonly findPod: (namespace: string, name: string) => PodWorker | undefined;
  readonly podDirectory: (podUid: string) => string;
}

/**
 * What the API server asks of a node: logs, exec and ports of pods. Only clients with a certificate of the given authority are served,
 * save for /healthz.
 *
 * `/debug/processes/{namespace}/{pod}/{container}` answers `{"pid", "sandboxPid"}`: the container's main process as the host
 * sees it, so that a test can kill what a crash would.
 */
export class KubeletServer implements AsyncDisposable {
  readonly #options: KubeletServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #execs: WebSocketServer = webSocketServer(execProtocols);
  readonly #portForwards: WebSocketServer = webSocketServer(portForwardProtocols);

  constructor(options: KubeletServerOptions) {
    this.#options = options;
    const { cert, key } = options.tls;
    this.#server = createServer({ cert, key, ca: options.clientCaPem, requestCert: true, rejectUnauthorized: false });
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** False when the address is taken. */
  listen(address: string, port: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void =>
        error.code === "EADDRINUSE" ? resolve(false) : reject(error);
      this.#server.once("error", onError);
      this.#server.listen(port, address, () => {
        this.#server.off("error", onError);
        resolve(true);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#execs.close();
    this.#portForwards.close();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "https://node");
    const [root, ...rest] = url.pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
    try {
      if (root === "healthz") return void response.end("ok");
      if (!isAuthorized(request)) return answer(response, 401, "Unauthorized");
      if (root === "containerLogs") return await this.#logs(url, rest, response);
      if (root === "debug" && rest[0] === "processes") return this.#processes(rest.slice(1), response);
      if (root === "exec") return answer(response, 400, "exec needs a WebSocket (v5.channel.k8s.io)");
      if (root === "portForward")
        return answer(response, 400, "port-forward needs a WebSocket (v4.channel.k8s.io); SPDY is not spoken here");
      answer(response, 404, "404 page not found");
    } catch (error) {
      this.#options.log.warn("Kubelet request could not be served", { path: url.pathname, error });
      if (response.headersSent) response.destroy();
      else answer(response, 500, messageOf(error));
    }
  }

  async #logs(url: URL, path: readonly string[], response: ServerResponse): Promise<void> {
    const [namespace = "", name = "", container = ""] = path;
    const pod = this.#options.findPod(namespace, name);
    const worker = pod?.container(container);
    if (pod === undefined || worker === undefined)
      return answer(response, 404, `pod ${name} does not have container ${container} on this node`);
    const attempt = worker.attempt - (url.searchParams.get("previous") === "true" ? 1 : 0);
    const hasStarted =
      worker.running !== undefined ||
      worker.status().lastState.terminated !== undefined ||
      worker.exitCode !== undefined;
    if (attempt < 0)
      return answer(response, 400, `previous terminated container "${container}" in pod "${name}" not found`);
    if (!hasStarted) {
      const reason = worker.status().state.waiting?.reason ?? "ContainerCreating";
      return answer(response, 400, `container "${container}" in pod "${name}" is waiting to start: ${reason}`);
    }
    const abort = new AbortController();
    response.once("close", () => abort.abort(new Error("client went away")));
    response.writeHead(200, { "content-type": "text/plain" });
    response.flushHeaders();
    const file = logFile(this.#options.podDirectory(pod.uid), container, attempt);
    const isOver = (): boolean => pod.isDone || worker.attempt !== attempt || worker.running === undefined;
    for await (const text of readLog(
      this.#options.clock,
      file,
      logOptions(this.#options.clock, url),
      isOver,
      abort.signal,
    )) {
      if (!response.write(text)) await drained(response);
    }
    response.end();
  }

  #processes(path: readonly string[], response: ServerResponse): void {
    const [namespace = "", name = "", container = ""] = path;
    const running = this.#options.findPod(namespace, name)?.container(container)?.running;
    if (running === undefined)
      return answer(response, 404, `container ${container} of pod ${namespace}/${name} does not run`);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ pid: running.pid, sandboxPid: running.sandboxPid }));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "/", "https://node");
    const [root, namespace = "", name = "", container = ""] = url.pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
    if (!isAuthorized(request)) return refuse(socket, 401, "Unauthorized");
    const pod = this.#options.findPod(namespace, name);
    if (root === "portForward") return this.#portForward({ request, socket, head }, pod, url.searchParams);
    if (root !== "exec") return refuse(socket, 404, "404 page not found");
    const running = pod?.container(container)?.running;
    if (running === undefined) return refuse(socket, 404, `container not found ("${container}")`);
    const query = url.searchParams;
    const isSet = (parameter: string): boolean =>
      ["true", "1"].includes(query.get(parameter) ?? query.get(shortNames[parameter] ?? "") ?? "");
    this.#execs.handleUpgrade(request, socket, head, (webSocket) => {
      const child = running.exec(query.getAll("command"), { tty: isSet("tty") });
      const streams = { stdin: isSet("stdin"), stdout: isSet("stdout"), stderr: isSet("stderr") && !isSet("tty") };
      void runExecSession(webSocket, child, streams);
    });
  }

  #portForward({ request, socket, head }: Upgrade, pod: PodWorker | undefined, query: URLSearchParams): void {
    const podIP = pod?.podIP;
    if (podIP === undefined) return refuse(socket, 404, "the pod has no address on this node");
    const offered = request.headers["sec-websocket-protocol"]?.split(",").map((each) => each.trim()) ?? [];
    if (!portForwardProtocols.some((protocol) => offered.includes(protocol)))
      return refuse(socket, 400, "port-forward needs a WebSocket (v4.channel.k8s.io); SPDY is not spoken here");
    const ports = portsOf(query);
    if (ports === undefined) return refuse(socket, 400, `name 1 to ${portsMax} ports between 1 and 65535`);
    this.#portForwards.handleUpgrade(request, socket, head, (webSocket) =>
      runPortForwardSession(webSocket, podIP, ports),
    );
  }
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function webSocketServer(protocols: readonly string[]): WebSocketServer {
  const handleProtocols = (offered: ReadonlySet<string>): string | false =>
    protocols.find((protocol) => offered.has(protocol)) ?? false;
  return new WebSocketServer({ noServer: true, handleProtocols });
}

/** Kubelets take `input`, `output` and `error`, the API server's clients say `stdin`, `stdout` and `stderr`. */
const shortNames: Readonly<Record<string, string>> = { stdin: "input", stdout: "output", stderr: "error" };

function isAuthorized(request: IncomingMessage): boolean {
  return (request.socket as TLSSocket).authorized;
}

function logOptions(clock: Clock, { searchParams }: URL): LogOptions {
  const number = (name: string): number | undefined =>
    searchParams.has(name) ? Number(searchParams.get(name)) : undefined;
  const [tailLines, sinceSeconds, limitBytes] = [number("tailLines"), number("sinceSeconds"), number("limitBytes")];
  const sinceTime = searchParams.get("sinceTime");
  const sinceMs =
    sinceTime !== null
      ? Date.parse(sinceTime)
      : sinceSeconds === undefined
        ? undefined
        : clock.now() - sinceSeconds * 1_000;
  return {
    follow: searchParams.get("follow") === "true",
    timestamps: searchParams.get("timestamps") === "true",
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}

function answer(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { "content-type": "text/plain" });
  response.end(text);
}

function refuse(socket: Duplex, code: number, text: string): void {
  socket.end(
    `HTTP/1.1 ${code} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}
