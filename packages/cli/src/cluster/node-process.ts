/** A node agent as a child process, so that pods' work never holds up the API server. */
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import type { ControlPlane, KeyPair } from "@setpoint/controlplane";
import type { ImageSource } from "@setpoint/process-node";
import type { ServiceBlock } from "./service-block.ts";

/** How long a stopping node may take: the pods' grace periods are cut to less than this. */
const stopMsMax = 20_000;
const bin = new URL("../../bin/setpoint.mjs", import.meta.url).pathname;

export interface NodeProcessOptions {
  readonly name: string;
  readonly directory: string;
  readonly controlPlane: ControlPlane;
  readonly block: ServiceBlock;
  readonly imageCache: string;
  readonly localImages: Readonly<Record<string, ImageSource>>;
  readonly say: (line: string) => void;
}

/** What the agent is told over the channel, so that no key stands in an argument list. */
export interface NodeInit {
  readonly name: string;
  readonly directory: string;
  readonly server: string;
  readonly ca: string;
  readonly client: KeyPair;
  readonly serving: KeyPair;
  readonly serviceCidr: string;
  readonly dnsAddress: string;
  readonly imageCache: string;
  readonly localImages: Readonly<Record<string, ImageSource>>;
}

export type NodeMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "say"; readonly line: string }
  | { readonly kind: "failed"; readonly sentence: string };

/** Resolves when the node is ready; disposing stops its pods and ends it. */
export async function startNodeProcess(options: NodeProcessOptions): Promise<AsyncDisposable> {
  const { controlPlane, name, block, imageCache, localImages } = options;
  // In a process group of its own, a ^C reaches this process alone, which then stops the node in order.
  const child = fork(bin, ["node"], {
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // Not those of this process: the command finds out itself whether it runs sources.
    execArgv: [],
  });
  const init: NodeInit = {
    name,
    directory: join(options.directory, "nodes", name),
    server: controlPlane.url ?? "",
    ca: controlPlane.caPem,
    ...controlPlane.issueNode(name, nodeAddresses()),
    serviceCidr: block.cidr,
    dnsAddress: block.dnsAddress,
    imageCache,
    localImages,
  };
  child.send(init);
  try {
    await untilReady(child, options);
  } catch (error) {
    await stop(child);
    throw error;
  }
  child.on("message", (message: NodeMessage) => message.kind === "say" && options.say(message.line));
  return { [Symbol.asyncDispose]: () => stop(child) };
}

/** The first usable address of every /20 of the pod range: the agent finds out which one is its own only when it starts. */
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

/** Ends the channel, which the agent takes as the order to stop; kills it when it does not. */
function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    if (child.connected) child.disconnect();
  });
}
