import { createServer, type Server, type Socket } from "node:net";
import type { Service, ServicePort } from "../cluster/kinds.ts";
import { connectOnHost } from "./loopback-network.ts";
import type { PodNetwork } from "./pod-network.ts";
import { backends, hasClusterIp, type ServiceTable } from "./service-table.ts";

interface Listener {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  turn: number;
}

export interface ServiceProxyOptions {
  /** Where on the host a Service is served; default: at its own address. */
  readonly listenAddress?: (clusterIP: string) => string;
  /** Default: from the host's own network namespace. */
  readonly connect?: PodNetwork["connect"];
}

export interface ServiceProblem {
  readonly service: Service;
  /** `address:port` */
  readonly address: string;
  /** EADDRINUSE: another node of this machine serves it, or a stranger. */
  readonly code: string;
  readonly error: Error;
}

const forbidden: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Connections that a Service port's proxy holds at most at once; more are refused. */
const connectionsMax = 10_000;
/** How many endpoints a new connection tries before it is refused. */
const connectAttemptsMax = 3;

/**
 * Gives Services their cluster IPs: a TCP listener for each address and port that passes connections on to ready endpoints
 * in turn. Endpoints are looked up for each connection, so a change counts from the next one on; open ones are left alone.
 */
export class ServiceProxy implements AsyncDisposable {
  readonly #table: ServiceTable;
  readonly #onProblem: (problem: ServiceProblem) => void;
  readonly #listenAddress: (clusterIP: string) => string;
  readonly #connect: PodNetwork["connect"];
  readonly #listeners = new Map<string, Listener>();
  /** Why listeners could not be made, so that each reason is reported once. */
  readonly #failed = new Map<string, string>();

  constructor(
    table: ServiceTable,
    onProblem: (problem: ServiceProblem) => void,
    { listenAddress = (address) => address, connect = connectOnHost }: ServiceProxyOptions = {},
  ) {
    this.#listenAddress = listenAddress;
    this.#connect = connect;
    this.#table = table;
    this.#onProblem = onProblem;
  }

  /** Whether the address and port cannot be listened on by anybody without more rights, so that nobody can connect. */
  isForbidden(address: string, port: number): boolean {
    return forbidden.has(this.#failed.get(`${address}:${port}`) ?? "");
  }

  /** Tries again what could not be listened on: another node of this machine may have ended. */
  retry(): void {
    this.#update((key) => !this.#listeners.has(key));
  }

  /** Makes listeners for new ports and ends those of ports that are gone. */
  update(): void {
    this.#update((key) => !this.#listeners.has(key) && !this.#failed.has(key));
  }

  #update(isDue: (key: string) => boolean): void {
    const wanted = new Map<string, { service: Service; port: ServicePort }>();
    for (const service of this.#table.services()) {
      if (!hasClusterIp(service)) continue;
      for (const port of service.spec.ports ?? []) {
        const address = this.#listenAddress(service.spec.clusterIP ?? "");
        if ((port.protocol ?? "TCP") === "TCP") wanted.set(`${address}:${port.port}`, { service, port });
      }
    }
    for (const [key, listener] of this.#listeners) if (!wanted.has(key)) this.#close(key, listener);
    for (const key of this.#failed.keys()) if (!wanted.has(key)) this.#failed.delete(key);
    for (const [key, { service, port }] of wanted) {
      if (isDue(key)) this.#listen(key, service, port);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, listener] of this.#listeners) this.#close(key, listener);
  }

  #listen(key: string, service: Service, port: ServicePort): void {
    const { namespace = "default", name = "" } = service.metadata;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      listener.sockets.add(socket);
      socket.once("close", () => listener.sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      // The Service may have changed since: what counts is its state now.
      const current = this.#table.find(namespace, name);
      const currentPort = current?.spec.ports?.find((each) => each.port === port.port);
      const targets =
        current === undefined || currentPort === undefined ? [] : backends(this.#table, current, currentPort);
      this.#pass(socket, listener, targets, 0);
    });
    const listener: Listener = { server, sockets: new Set(), turn: 0 };
    server.maxConnections = connectionsMax;
    server.once("listening", () => this.#failed.delete(key));
    server.once("error", (error: NodeJS.ErrnoException) => {
      const code = error.code ?? error.message;
      const isKnown = this.#failed.get(key) === code;
      this.#listeners.delete(key);
      this.#failed.set(key, code);
      if (!isKnown) this.#onProblem({ service, address: key, code, error });
    });
    server.listen(port.port, this.#listenAddress(service.spec.clusterIP ?? ""));
    this.#listeners.set(key, listener);
  }

  #pass(client: Socket, listener: Listener, targets: readonly { host: string; port: number }[], attempt: number): void {
    const target = targets[listener.turn++ % Math.max(targets.length, 1)];
    if (target === undefined || attempt >= Math.min(connectAttemptsMax, targets.length))
      return client.resetAndDestroy() && undefined;
    const abort = new AbortController();
    const giveUp = (): void => abort.abort();
    client.once("close", giveUp);
    this.#connect(target.host, target.port, abort.signal).then(
      (upstream) => {
        client.off("close", giveUp).once("close", () => upstream.destroy());
        join(client, upstream);
      },
      () => {
        client.off("close", giveUp);
        if (!client.destroyed) this.#pass(client, listener, targets, attempt + 1);
      },
    );
  }

  #close(key: string, { server, sockets }: Listener): void {
    this.#listeners.delete(key);
    server.close();
    for (const socket of sockets) socket.destroy();
  }
}

/** Each side's end is passed on by itself, so a client may finish writing and go on reading. */
function join(client: Socket, upstream: Socket): void {
  client.setNoDelay(true);
  upstream.setNoDelay(true);
  upstream.on("error", () => client.resetAndDestroy());
  upstream.once("close", () => client.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
  client.resume();
}
