/**
 * A node agent as a child process, so that pods' work never holds up the API server; started again when it
 * ends.
 */
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import type { ControlPlane, NodeKeys } from "@setpoint/controlplane";
import type { Clock } from "@setpoint/host";
import { endNode, type ImageSource, type PodNetworkOptions } from "@setpoint/process-node";
import { endsWithParent } from "../end-with-parent.ts";
import { agentDelayMs } from "./agent-back-off.ts";
import type { PodNetworkChoice } from "./pod-network.ts";

/** How long a stopping node may take: the pods' grace periods are cut to less than this. */
const stopMsMax = 20_000;
/**
 * Time to start "setpoint up" again after a kill; then agents stop their pods, so that nothing stays for
 * ever.
 */
const orphanMs = 60_000;
const bin = new URL("../../bin/setpoint.mjs", import.meta.url).pathname;

export interface NodeProcessOptions {
  readonly clock: Clock;
  readonly name: string;
  readonly directory: string;
  readonly controlPlane: ControlPlane;
  readonly network: PodNetworkChoice;
  readonly imageCache: string;
  readonly localImages: Readonly<Record<string, ImageSource>>;
  readonly allowHost: boolean;
  /** Whether a later start may find the directory again. */
  readonly isKept: boolean;
  readonly say: (line: string) => void;
}

/** What the agent gets over the channel, so that no key stands in an argument list. */
export interface NodeInit {
  readonly name: string;
  readonly directory: string;
  readonly server: string;
  readonly ca: string;
  readonly keys: NodeKeys;
  /** Absent: pods share the host's network. */
  readonly podNetwork: Omit<PodNetworkOptions, "transport"> | undefined;
  readonly dnsAddress: string;
  readonly imageCache: string;
  readonly localImages: Readonly<Record<string, ImageSource>>;
  /** Whether pods may have rights over the host. */
  readonly allowHost: boolean;
  /**
   * How long its pods go on when its parent ends without an order to stop, so that a new parent can take them
   * over.
   */
  readonly orphanMs: number;
}

/**
 * What the agent gets after that: the order to stop its pods and to end. A channel that ends without it means
 * that the parent died.
 */
export interface NodeStop {
  readonly kind: "stop";
}

export type NodeMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "say"; readonly line: string }
  | { readonly kind: "failed"; readonly sentence: string };

/**
 * Resolves when the node is ready. From then on its agent is started again when it ends; disposing stops its
 * pods and ends it.
 */
export async function startNodeProcess(options: NodeProcessOptions): Promise<AsyncDisposable> {
  const node = new NodeProcess(options);
  await node.start();
  return node;
}

/**
 * The environment without what makes a command end with its parent: an agent keeps its pods for `orphanMs`
 * after that.
 */
function outliving(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { npm_command: _npm, [endsWithParent]: _marker, ...others } = environment;
  return others;
}

class NodeProcess implements AsyncDisposable {
  readonly #options: NodeProcessOptions;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #delayMs = 0;
  #isStopping = false;

  constructor(options: NodeProcessOptions) {
    this.#options = options;
  }

  /** Rejects when the agent cannot start; then none is left. */
  async start(): Promise<void> {
    const startedMs = performance.now();
    const child = this.#fork();
    this.#child = child;
    try {
      await untilReady(child, this.#options);
    } catch (error) {
      await stop(child);
      throw error;
    }
    child.on("message", (message: NodeMessage) => message.kind === "say" && this.#options.say(message.line));
    if (hasEnded(child)) return this.#ended(child, startedMs);
    child.once("exit", () => this.#ended(child, startedMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    if (this.#child === undefined) return;
    await stop(this.#child);
    // One that was killed, or gave up, has left pods.
    const { clock, directory, name } = this.#options;
    if (this.#child.exitCode !== 0) await endNode(join(directory, "nodes", name), clock);
  }

  #fork(): ChildProcess {
    const { controlPlane, name, network, imageCache, localImages, directory, isKept, allowHost } = this.#options;
    // In a process group of its own, a ^C reaches this process alone, which then stops the node in order.
    const child = fork(bin, ["node"], {
      detached: true,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // Not those of this process: the command finds out itself whether it runs sources.
      execArgv: [],
      env: outliving(process.env),
    });
    // Its exit says what there is to say; without a listener, a channel that breaks would end this process.
    child.on("error", () => {});
    const init: NodeInit = {
      name,
      directory: join(directory, "nodes", name),
      server: controlPlane.url ?? "",
      ca: controlPlane.caPem,
      keys: controlPlane.issueNode(name, nodeAddresses()),
      podNetwork: network.forNodes,
      dnsAddress: network.dnsAddress,
      imageCache,
      localImages,
      allowHost,
      orphanMs: isKept ? orphanMs : 0,
    };
    child.send(init);
    return child;
  }

  #ended({ exitCode, signalCode }: ChildProcess, startedMs: number): void {
    if (this.#isStopping) return;
    this.#delayMs = agentDelayMs(this.#delayMs, performance.now() - startedMs);
    const how = signalCode ?? `exit code ${exitCode}`;
    const { name, say } = this.#options;
    say(`Node "${name}": the agent ended (${how}); restarting it in ${this.#delayMs} ms, its pods keep running`);
    this.#restartLater(startedMs);
  }

  #restartLater(startedMs: number): void {
    const { name, say } = this.#options;
    this.#timer = setTimeout(() => {
      this.start().then(
        () => say(`Node "${name}": the agent is ready again`),
        (error: unknown) => {
          if (this.#isStopping) return;
          this.#delayMs = agentDelayMs(this.#delayMs, 0);
          say(`Node "${name}": the agent cannot start, retrying in ${this.#delayMs} ms: ${messageOf(error)}`);
          this.#restartLater(startedMs);
        },
      );
    }, this.#delayMs);
  }
}

/**
 * The first usable address of every /20 of the pod range: the agent finds out which one is its own only when
 * it starts.
 */
function nodeAddresses(): readonly string[] {
  return Array.from({ length: 256 }, (_, i) => `127.${64 + Math.floor(i / 16)}.${(i % 16) * 16}.1`);
}

function untilReady(child: ChildProcess, { name, say }: NodeProcessOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: NodeMessage): void => {
      if (message.kind === "say") return say(message.line);
      child.off("message", onMessage);
      if (message.kind === "ready") resolve();
      else reject(new SetpointError("ERR_NODE", message.sentence));
    };
    child.on("message", onMessage);
    child.once("exit", (code) =>
      reject(new SetpointError("ERR_NODE", `Cannot start node "${name}": its process ended with code ${code}`)),
    );
    child.once("error", reject);
  });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Orders the agent to stop, and kills it when it does not. */
function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    const order: NodeStop = { kind: "stop" };
    // Its channel ends when the order was sent, so that nothing of this process keeps it.
    if (child.connected) child.send(order, () => child.connected && child.disconnect());
  });
}
