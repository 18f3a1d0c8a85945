import { messageOf } from "@setpoint/apimachinery";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@setpoint/host";
import { createWebSocketStream, type WebSocketServer } from "ws";
import { answer, answerJson, refuse } from "./answers.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { serveContainerLogs } from "./container-logs.ts";
import type { ExecStreams } from "./exec-session.ts";
import {
  channelProtocol,
  type ConnectToPort,
  portsMax,
  portsOf,
  runPortForwardSession,
} from "./port-forward-session.ts";
import { RemoteCommands } from "./remote-commands.ts";
import { isRefusal, type Refusal, type RequestAccess } from "./request-access.ts";
import { readTarget, type RequestTarget } from "./request-target.ts";
import { serveSpdyPortForward, spdyProtocol, tunnelProtocol } from "./spdy-port-forward.ts";
import { endOnError, isSpdy, listOf, takeSpdy, type Upgrade, webSocketServer } from "./upgrade.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { ExecProcess } from "../sandbox/container-runtime.ts";
import type { PodWorker } from "../workers/pod-worker.ts";

export interface KubeletServerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The node's certificate and key, PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Who signs the certificates of clients, PEM. */
  readonly clientCaPem: string;
  readonly access: RequestAccess;
  readonly findPod: (namespace: string, name: string) => PodWorker | undefined;
  readonly podDirectory: (podUid: string) => string;
  /** The answer to `/stats/summary`. */
  readonly stats: () => Promise<object>;
  /** To a program in a pod. */
  readonly connectInside: PodNetwork["connectInside"];
}

const connectionsMax = 256;
/** Logs that are followed, commands and forwarded ports at a time. */
const streamsMax = 200;
/** A client that has not sent its request by then is slow on purpose. */
const requestMsMax = 10_000;

const limits = {
  handshakeTimeout: 5_000,
  headersTimeout: 5_000,
  requestTimeout: requestMsMax,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};

/**
 * What the API server asks of a node: logs, exec and ports of pods, and what they use. Each request is
 * authenticated and authorized before anything of it is looked at; nothing that a client sends ends the
 * process.
 *
 * `/debug/processes/{namespace}/{pod}/{container}` answers `{"pid", "sandboxPid"}`: the container's main
 * process as the host sees it, so that a test can kill what a crash would.
 */
export class KubeletServer implements AsyncDisposable {
  readonly #options: KubeletServerOptions;
  readonly #server: Server;
  readonly #connections = new ConnectionLimit(connectionsMax);
  readonly #commands = new RemoteCommands();
  readonly #portForwards: WebSocketServer = webSocketServer(portForwardProtocols);
  #streams = 0;

  constructor(options: KubeletServerOptions) {
    this.#options = options;
    const { cert, key } = options.tls;
    const tls = { cert, key, ca: options.clientCaPem, requestCert: true, rejectUnauthorized: false };
    this.#server = createServer({ ...tls, ...limits });
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request, socket, head) => void this.#upgrade({ request, socket, head }));
    this.#server.on("connection", (socket: Socket) => this.#connections.accept(socket));
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
    this.#commands.close();
    this.#portForwards.close();
    this.#server.close();
    this.#connections.destroyAll();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => response.destroy());
    try {
      const admitted = await this.#admit(request);
      if ("status" in admitted) return answer(response, admitted.status, admitted.text);
      await this.#route(admitted, response);
    } catch (error) {
      this.#options.log.warn("Could not serve kubelet request", { path: request.url, error });
      answer(response, 500, messageOf(error));
    }
  }

  /** Authenticated, read and authorized, in this order; the refusal otherwise. */
  async #admit(request: IncomingMessage): Promise<RequestTarget | Refusal | BadRequest> {
    const { access } = this.#options;
    const user = await access.authenticate(request);
    if (isRefusal(user)) return user;
    const target = readTarget(request.url);
    if (target === undefined) return { status: 400, text: "Bad Request" };
    const refusal = await access.authorize(user, request.method ?? "", target.segments[0] ?? "");
    if (refusal !== undefined) return refusal;
    this.#connections.trust(request.socket);
    return target;
  }

  async #route(target: RequestTarget, response: ServerResponse): Promise<void> {
    const [root, ...path] = target.segments;
    if (root === "healthz") return answer(response, 200, "ok");
    if (root === "containerLogs") return this.#logs(target, path, response);
    if (root === "debug" && path[0] === "processes") return this.#processes(path.slice(1), response);
    if (root === "stats" && path.join("/") === "summary") return answerJson(response, await this.#options.stats());
    if (root === "exec" || root === "attach") return answer(response, 400, RemoteCommands.needs);
    if (root === "portForward") return answer(response, 400, portForwardNeeds);
    answer(response, 404, "404 page not found");
  }

  async #logs({ query }: RequestTarget, path: readonly string[], response: ServerResponse): Promise<void> {
    const { clock, podDirectory } = this.#options;
    const [namespace = "", name = ""] = path;
    if (!this.#openStream(response)) return answer(response, 429, tooManyStreams);
    const pod = this.#options.findPod(namespace, name);
    await serveContainerLogs({ clock, pod, podDirectory, path, query }, response);
  }

  #processes(path: readonly string[], response: ServerResponse): void {
    const [namespace = "", name = "", container = ""] = path;
    const running = this.#options.findPod(namespace, name)?.container(container)?.running;
    if (running === undefined)
      return answer(response, 404, `container ${container} of pod ${namespace}/${name} does not run`);
    answerJson(response, { pid: running.pid, sandboxPid: running.sandboxPid });
  }

  async #upgrade(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade;
    // Without a listener, a client that resets its connection would end this process.
    socket.on("error", () => socket.destroy());
    try {
      const admitted = await this.#admit(request);
      if ("status" in admitted) return refuse(socket, admitted.status, admitted.text);
      if (socket.destroyed) return;
      this.#stream(upgrade, admitted);
    } catch (error) {
      this.#options.log.warn("Could not serve kubelet request", { path: request.url, error });
      refuse(socket, 500, messageOf(error));
    }
  }

  #stream(upgrade: Upgrade, { segments, query }: RequestTarget): void {
    const { socket } = upgrade;
    const [root, namespace = "", name = "", container = ""] = segments;
    const pod = this.#options.findPod(namespace, name);
    if (!["attach", "exec", "portForward"].includes(root ?? "")) return refuse(socket, 404, "404 page not found");
    if (!this.#openStream(socket)) return refuse(socket, 429, tooManyStreams);
    if (root === "portForward") return this.#portForward(upgrade, pod, query);
    const running = pod?.container(container)?.running;
    if (running === undefined) return refuse(socket, 404, `container not found ("${container}")`);
    const start = ({ tty, stdin }: ExecStreams): ExecProcess =>
      root === "attach" ? running.attach({ stdin }) : running.exec(query.getAll("command"), { tty });
    this.#commands.serve(upgrade, query, start);
  }

  #portForward({ request, socket, head }: Upgrade, pod: PodWorker | undefined, query: URLSearchParams): void {
    if (pod?.podIP === undefined) return refuse(socket, 404, "the pod has no address on this node");
    const connect: ConnectToPort = (port) => this.#options.connectInside(pod.uid, port);
    const upgrade = { request, socket, head };
    if (isSpdy(request))
      return takeSpdy(upgrade, spdyProtocol, portForwardNeeds, (carrier) => serveSpdyPortForward(carrier, connect));
    const offered = listOf(request.headers["sec-websocket-protocol"]);
    const protocol = portForwardProtocols.find((each) => offered.includes(each));
    const isTunnel = protocol === tunnelProtocol;
    if (protocol === undefined) return refuse(socket, 400, portForwardNeeds);
    const ports = isTunnel ? [] : portsOf(query);
    if (ports === undefined) return refuse(socket, 400, `name 1 to ${portsMax} ports between 1 and 65535`);
    this.#portForwards.handleUpgrade(request, socket, head, (webSocket) => {
      endOnError(webSocket);
      if (isTunnel) serveSpdyPortForward(createWebSocketStream(webSocket), connect);
      else runPortForwardSession(webSocket, ports, connect);
    });
  }

  /** Counts a stream until `carrier` closes; false when there are too many. */
  #openStream(carrier: NodeJS.EventEmitter): boolean {
    if (this.#streams >= streamsMax) return false;
    this.#streams++;
    carrier.once("close", () => this.#streams--);
    return true;
  }
}

interface BadRequest {
  readonly status: 400;
  readonly text: string;
}

const portForwardProtocols = [tunnelProtocol, channelProtocol] as const;
const portForwardNeeds = `port-forward needs a WebSocket (${portForwardProtocols.join(" or ")}) or SPDY/3.1 (${spdyProtocol})`;
const tooManyStreams = "Too many streams on this node: try again later";
