/** A cluster's network with pods that are processes which do nothing: the test itself opens their sockets. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { type ClusterNetwork, openClusterNetwork } from "./cluster-network.ts";
import { createNamespaceNetwork } from "./namespace-network.ts";
import { NamespaceSockets } from "./namespace-sockets.ts";
import { NodeRules } from "./node-rules.ts";
import type { PodNetwork } from "./pod-network.ts";
import { PodSockets } from "./pod-sockets.ts";
import { applyRules } from "./run-in-namespace.ts";

/** Why there can be no such network here; empty when there can. */
export const missing: string = process.getuid?.() === 0 ? "" : " (skipped: needs root)";
export const apiAddress = "10.96.240.1";

export class NetworkWorld implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "pod-network-"));
  readonly cluster: ClusterNetwork;
  readonly #parts: AsyncDisposableStack;
  #network: PodNetwork | undefined;
  /** The rules of the node; a test changes them and calls `update`. */
  rules = "";
  #applied: NodeRules | undefined;

  private constructor(cluster: ClusterNetwork, parts: AsyncDisposableStack) {
    this.cluster = cluster;
    this.#parts = parts;
    parts.defer(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  static async start(): Promise<NetworkWorld> {
    await using parts = new AsyncDisposableStack();
    const addresses = { api: apiAddress, dns: "10.96.240.10" };
    const cluster = parts.use(await openClusterNetwork({ clock: systemClock, addresses }));
    const world = new NetworkWorld(cluster, parts.move());
    const { namespace, sockets } = cluster;
    world.#applied = new NodeRules({
      clock: systemClock,
      log: silentLogger,
      compile: () => `add table inet node\ndelete table inet node\ntable inet node {\n${world.rules}}\n`,
      apply: (rules) => applyRules(namespace, rules),
    });
    world.#network = await createNamespaceNetwork({
      file: join(world.folder, "network.json"),
      claim: async () => true,
      namespace,
      sockets,
      podSockets: world.#parts.use(new PodSockets(systemClock)),
      ensureRules: () => world.update(),
    });
    return world;
  }

  get network(): PodNetwork {
    if (this.#network === undefined) throw new Error("the world has not started");
    return this.#network;
  }

  async update(): Promise<void> {
    await this.#applied?.ensure();
  }

  /** A pod that is attached. */
  async pod(uid: string): Promise<TestPod> {
    const pod = this.#parts.use(await TestPod.start(this.network.addressOf(uid)));
    await this.network.attach(uid, pod.holderPid);
    return pod;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

/** A process in a network namespace of its own. */
export class TestPod implements AsyncDisposable {
  readonly address: string;
  readonly holderPid: number;
  readonly sockets: NamespaceSockets;
  readonly #process: ChildProcess;
  readonly #servers = new Set<Server>();

  private constructor(child: ChildProcess, address: string) {
    this.#process = child;
    this.holderPid = child.pid ?? 0;
    this.address = address;
    this.sockets = new NamespaceSockets({ holderPid: this.holderPid, isRootless: false });
  }

  static async start(address: string): Promise<TestPod> {
    const child = spawn("unshare", ["--net", "sleep", "600"], { stdio: "ignore" });
    const own = readlinkSync("/proc/self/ns/net");
    for (let i = 0; i < 500 && readNamespace(child.pid) === own; i++) await sleep(systemClock, 5);
    return new TestPod(child, address);
  }

  /** Answers every connection with the text and the client's address. */
  async serve(port: number, text: string, address = "0.0.0.0"): Promise<void> {
    const server = await this.sockets.listen(address, port);
    this.#servers.add(server);
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      socket.on("error", () => {});
      socket.end(`${text} ${socket.remoteAddress}`);
    });
  }

  /** What the server there says, or the code of the refusal. */
  async ask(address: string, port: number, timeoutMs = 1_500): Promise<string> {
    try {
      return await readAll(await this.sockets.connect(address, port, AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      return codeOf(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) server.close();
    await this.sockets[Symbol.asyncDispose]();
    this.#process.kill("SIGKILL");
  }
}

function readNamespace(pid: number | undefined): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return "";
  }
}

export async function readAll(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code?.toString() ?? error.name;
}

/** Asks from the host's own namespace. */
export function askFromHost(address: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, signal: AbortSignal.timeout(1_500) });
    socket.once("error", (error) => resolve(codeOf(error)));
    socket.once("connect", () => void readAll(socket).then(resolve, (error: unknown) => resolve(codeOf(error))));
  });
}
