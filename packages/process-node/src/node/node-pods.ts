import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Pod } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { EventRecorder } from "@setpoint/runtime";
import { KindInformer } from "../cluster/kind-informer.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { ContainerRuntime } from "../sandbox/container-runtime.ts";
import { unmountBeneath } from "../volumes/memory-volume.ts";
import { removeTree } from "../volumes/remove-tree.ts";
import type { PodManager } from "../workers/pod-manager.ts";
import type { NodeFolders } from "./node-folders.ts";

export interface NodePodsOptions {
  readonly client: Client;
  readonly host: Host;
  readonly nodeName: string;
  readonly folders: NodeFolders;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  readonly manager: PodManager;
  readonly recorder: EventRecorder;
  readonly onChange: () => void;
}

/** Containers that take longer than this to stop with their agent are killed. */
const shutdownGraceMs = 10_000;

/** The pods that are bound to this node: follows them, and stops their containers with the agent. */
export class NodePods implements AsyncDisposable {
  readonly #options: NodePodsOptions;
  readonly #informer: KindInformer<Pod>;
  #isHandedOver = false;

  constructor(options: NodePodsOptions) {
    const { client, host, nodeName, manager, onChange } = options;
    this.#options = options;
    this.#informer = new KindInformer({
      client,
      host,
      kind: Pod,
      // The API server refuses a node that asks for pods of other nodes.
      selector: { fieldSelector: `spec.nodeName=${nodeName}` },
      onChange(pod, before) {
        manager.changed(pod, before);
        onChange();
      },
    });
  }

  /**
   * Resolves when all pods have a worker, and nothing is left of pods that were deleted while no agent ran.
   */
  async start(): Promise<void> {
    await this.#informer.synced;
    const { folders, manager, network } = this.#options;
    const uids = manager.uids();
    network.retain(uids);
    await this.#removeSandboxes(uids);
    for (const folder of [folders.pod(""), folders.podMemory("")]) await removeFolders(folder, uids);
  }

  /** Containers keep running for the next agent. */
  handOver(): void {
    this.#isHandedOver = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { manager, recorder, runtime } = this.#options;
    await this.#informer[Symbol.asyncDispose]();
    if (this.#isHandedOver) return manager.leave();
    await manager.stop(shutdownGraceMs);
    // Sandboxes of pods that the API server no longer knows.
    for (const uid of runtime.sandboxUids()) await runtime.removeSandbox(uid);
    await recorder.flushed();
  }

  async #removeSandboxes(known: ReadonlySet<string>): Promise<void> {
    const { network, runtime } = this.#options;
    for (const uid of runtime.sandboxUids().filter((each) => !known.has(each))) {
      await network.detach(uid).catch(() => {
        // The kernel removes the interface with its network namespace.
      });
      await runtime.removeSandbox(uid);
      runtime.releaseIds(uid);
    }
  }
}

async function removeFolders(folder: string, known: ReadonlySet<string>): Promise<void> {
  const present = existsSync(folder) ? readdirSync(folder) : [];
  for (const uid of present.filter((each) => !known.has(each))) {
    unmountBeneath(join(folder, uid));
    await removeTree(join(folder, uid));
  }
}
