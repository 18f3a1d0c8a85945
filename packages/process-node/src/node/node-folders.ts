import { join } from "node:path";
import type { Clock, Logger } from "@setpoint/host";
import { type DirectoryLock, lockDirectory } from "../host/directory-lock.ts";
import { preparePrivateFolder } from "../host/private-folder.ts";
import type { ProcessIdentity } from "../host/process-identity.ts";
import { prepareMemoryFolder, removeMemory } from "../volumes/memory-folder.ts";
import { endNodeNamespace, recordNetwork, removeAbandonedNodes } from "./abandoned-nodes.ts";

export interface NodeFoldersOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly directory: string;
  /** The process that holds the network of the node's cluster. */
  readonly networkHolder?: ProcessIdentity | undefined;
}

/** Other users of the host cannot read them. */
const privateFolders = ["", "pods", "volumes"];

/** The folders of one node, locked for one agent. */
export class NodeFolders implements Disposable {
  readonly directory: string;
  /** On a tmpfs: what must not reach the disk, and what describes running processes. */
  readonly memory: string;
  readonly lock: DirectoryLock;
  #isHandedOver = false;

  private constructor(directory: string, memory: string, lock: DirectoryLock) {
    this.directory = directory;
    this.memory = memory;
    this.lock = lock;
  }

  /**
   * Locks the directory, then removes what abandoned nodes left on this host. Throws ERR_DIRECTORY_IN_USE.
   */
  static async open({ clock, log, directory, networkHolder }: NodeFoldersOptions): Promise<NodeFolders> {
    using stack = new DisposableStack();
    const lock = await lockDirectory(directory, clock);
    stack.defer(() => lock.release());
    for (const folder of privateFolders) preparePrivateFolder(join(directory, folder));
    await removeAbandonedNodes(clock, log);
    const memory = prepareMemoryFolder(directory);
    if (networkHolder !== undefined) recordNetwork(memory, networkHolder);
    stack.move();
    return new NodeFolders(directory, memory, lock);
  }

  /** Logs and volumes of a pod. */
  pod(uid: string): string {
    return join(this.directory, "pods", uid);
  }

  /** As `pod`, in memory. */
  podMemory(uid: string): string {
    return join(this.memory, "pods", uid);
  }

  /** Persistent volumes. */
  get volumes(): string {
    return join(this.directory, "volumes");
  }

  /** Keeps the folders in memory for the next agent. */
  handOver(): void {
    this.#isHandedOver = true;
  }

  [Symbol.dispose](): void {
    if (!this.#isHandedOver) {
      endNodeNamespace(this.memory);
      removeMemory(this.memory);
    }
    this.lock.release();
  }
}
