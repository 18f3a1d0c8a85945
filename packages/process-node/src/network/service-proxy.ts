import type { Pod, Service, ServicePort } from "@setpoint/api";
import { createServer, type Server, type Socket } from "node:net";
import { connectOnHost } from "./loopback-network.ts";
import { inCidr } from "./ipv4.ts";
import type { PodNetwork } from "./pod-network.ts";
import { hostPorts, onNode } from "./service-ports.ts";
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
  /** Endpoints in this range also get listeners of their own: the host has no other way to them. */
  readonly mirroredPods?: string;
  /** Serves node ports and the host ports of its pods. */
  readonly node?: ProxiedNode;
}

export interface ProxiedNode {
  /** In the network of the pods. */
  readonly address: string;
  /** On the host. */
  readonly hostAddresses: readonly string[];
  readonly pods: () => readonly { readonly pod: Pod; readonly address: string }[];
}

/** One address and port with its endpoints. */
interface Served {
  readonly service: Service | Pod;
  readonly address: string;
  readonly port: number;
  readonly targets: () => readonly { readonly host: string; readonly port: number }[];
}

export interface ServiceProblem {
  /** Whose port it is: that of a Service, or the `hostPort` of a pod. */
  readonly service: Service | Pod;
  /** `address:port` */
  readonly address: string;
  /** EADDRINUSE: another node of this machine serves it, or another program. */
  readonly code: string;
  readonly error: Error;
}

const forbidden: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Connections that a Service port's proxy holds at most at once; more are refused. */
const connectionsMax = 10_000;
/** How many endpoints a new connection tries before it is refused. */
const connectAttemptsMax = 3;

/**
 * Gives Services their cluster IPs: a TCP listener for each address and port that passes connections on to
 * ready endpoints in turn. Endpoints are looked up for each connection, so a change counts from the next one
 * on; open ones are left alone.
 */
export class ServiceProxy implements AsyncDisposable {
  readonly #table: ServiceTable;
  readonly #onProblem: (problem: ServiceProblem) => void;
  readonly #listenAddress: (clusterIP: string) => string;
  readonly #connect: PodNetwork["connect"];
  readonly #mirroredPods: string | undefined;
  readonly #node: ProxiedNode | undefined;
  readonly #listeners = new Map<string, Listener>();
  /** Why listeners could not be made, so that each reason is reported once. */
  readonly #failed = new Map<string, string>();

  constructor(
    table: ServiceTable,
    onProblem: (problem: ServiceProblem) => void,
    { listenAddress = (address) => address, connect = connectOnHost, mirroredPods, node }: ServiceProxyOptions = {},
  ) {
    this.#listenAddress = listenAddress;
    this.#connect = connect;
    this.#mirroredPods = mirroredPods;
    this.#node = node;
    this.#table = table;
    this.#onProblem = onProblem;
  }

  /** Whether this user may not listen on the address and port, so that no connection to them succeeds. */
  isForbidden(address: string, port: number): boolean {
    return forbidden.has(this.#failed.get(`${address}:${port}`) ?? "");
  }

  /** Retries addresses that were in use: another node of this machine may have ended. */
  retry(): void {
    this.#update((key) => !this.#listeners.has(key));
  }

  /** Opens listeners for new ports and closes those of removed ones. */
  update(): void {
    this.#update((key) => !this.#listeners.has(key) && !this.#failed.has(key));
  }

  #update(isDue: (key: string) => boolean): void {
    const wanted = new Map<string, Served>();
    const services = [...this.#table.services()];
    const served = services.flatMap((each) => [...this.#ofService(each), ...this.#ofPods(each)]);
    for (const each of [
      ...services.flatMap((service) => this.#ofNodePorts(service)),
      ...this.#ofHostPorts(),
      ...served,
    ])
      wanted.set(`${each.address}:${each.port}`, each);
    for (const [key, listener] of this.#listeners) if (!wanted.has(key)) this.#close(key, listener);
    for (const key of this.#failed.keys()) if (!wanted.has(key)) this.#failed.delete(key);
    for (const [key, served] of wanted) if (isDue(key)) this.#listen(key, served);
  }

  #ofService(service: Service): Served[] {
    if (!hasClusterIp(service)) return [];
    const address = this.#listenAddress(service.spec.clusterIP ?? "");
    return tcpPorts(service).map(({ port }) => ({
      service,
      address,
      port,
      targets: () => this.#targets(service, port),
    }));
  }

  #ofPods(service: Service): Served[] {
    const range = this.#mirroredPods;
    if (range === undefined) return [];
    const { namespace = "default", name = "" } = service.metadata;
    return this.#table
      .endpoints(namespace, name)
      .filter(({ address }) => inCidr(address, range))
      .flatMap(({ address: host, ports }) =>
        [...new Set(ports.values())].map((port) => ({
          service,
          address: this.#listenAddress(host),
          port,
          targets: () => [{ host, port }],
        })),
      );
  }

  #ofNodePorts(service: Service): Served[] {
    const node = this.#node;
    if (node === undefined || !["NodePort", "LoadBalancer"].includes(service.spec.type ?? "")) return [];
    const isLocal = service.spec.externalTrafficPolicy === "Local";
    return tcpPorts(service).flatMap(({ port, nodePort = 0 }) =>
      (nodePort === 0 ? [] : node.hostAddresses).map((address) => ({
        service,
        address,
        port: nodePort,
        targets: () => {
          const all = this.#targets(service, port);
          return isLocal ? onNode(all, node.address) : all;
        },
      })),
    );
  }

  /** Only loopback addresses: nobody beyond this machine reaches a pod. */
  #ofHostPorts(): Served[] {
    const node = this.#node;
    return (node?.pods() ?? []).flatMap((placed) =>
      hostPorts([placed], node?.address ?? "")
        .map((port) => ({ ...port, address: this.#listenAddress(port.address) }))
        .filter(({ protocol, address }) => protocol === "tcp" && inCidr(address, "127.0.0.0/8"))
        .map(({ address, port, targets }) => ({ service: placed.pod, address, port, targets: () => targets })),
    );
  }

  /** The Service may have changed since it was listened for: what counts is its state now. */
  #targets({ metadata }: Service, number: number): readonly { readonly host: string; readonly port: number }[] {
    const current = this.#table.find(metadata.namespace ?? "default", metadata.name ?? "");
    const port = current?.spec.ports?.find((each) => each.port === number);
    return current === undefined || port === undefined ? [] : backends(this.#table, current, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, listener] of this.#listeners) this.#close(key, listener);
  }

  #listen(key: string, { service, address, port, targets }: Served): void {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      listener.sockets.add(socket);
      socket.once("close", () => listener.sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      this.#pass(socket, listener, targets(), 0);
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
    server.listen(port, address);
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

function tcpPorts(service: Service): readonly ServicePort[] {
  return (service.spec.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
}
