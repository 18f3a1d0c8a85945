/**
 * Nodes whose agent cannot end their pods any more: it was killed, or their data folder was removed. Their
 * folders in memory name their pods, so the pods are killed before those folders are removed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Logger } from "@setpoint/host";
import { lockDirectory } from "../host/directory-lock.ts";
import { readJson, writeJson } from "../host/json-file.ts";
import { readHolder } from "../network/namespace-holder.ts";
import { endUnusedNamespace } from "../network/unused-namespace.ts";
import type { ProcessIdentity } from "../host/process-identity.ts";
import { OciRuntime } from "../sandbox/oci-runtime.ts";
import { abandonedMemory, memoryFolderOf, removeMemory } from "../volumes/memory-folder.ts";

/** Where the runtime of a node keeps its records. */
export function sandboxesFolder(memory: string): string {
  return join(memory, "sandboxes");
}

/** Names the process that holds the network namespace of the node itself. */
export function nodeNamespaceFile(memory: string): string {
  return join(memory, "node-namespace.json");
}

/** Ends the network of the node itself; its pods must be gone. */
export function endNodeNamespace(memory: string): void {
  const holder = readHolder(nodeNamespaceFile(memory));
  if (holder !== undefined) process.kill(holder.pid, "SIGKILL");
}

/** Records which process holds the network of the node's cluster. */
export function recordNetwork(memory: string, holder: ProcessIdentity): void {
  writeJson(networkFile(memory), holder);
}

/**
 * Ends the pods of a node whose agent was killed, and removes its memory. Throws `ERR_DIRECTORY_IN_USE` when
 * there is an agent.
 */
export async function endNode(directory: string, clock: Clock): Promise<void> {
  if (!existsSync(directory)) return;
  const lock = await lockDirectory(directory, clock);
  try {
    const memory = memoryFolderOf(directory);
    if (!existsSync(memory)) return;
    await endPods(clock, memory);
    removeMemory(memory);
  } finally {
    lock.release();
  }
}

/** Removes their pods, networks and folders in memory. Another agent may do the same at the same time. */
export async function removeAbandonedNodes(clock: Clock, log: Logger): Promise<void> {
  for (const memory of abandonedMemory()) {
    try {
      await endPods(clock, memory);
      endNetwork(memory);
      removeMemory(memory);
    } catch (error) {
      log.warn("Could not remove abandoned node", { memory, error });
    }
  }
}

async function endPods(clock: Clock, memory: string): Promise<void> {
  using runtime = new OciRuntime({
    clock,
    directory: sandboxesFolder(memory),
    idsFile: join(memory, "id-ranges.json"),
    version: "",
    // This runtime starts no containers.
    logFile: () => "/dev/null",
  });
  for (const uid of runtime.sandboxUids()) await runtime.removeSandbox(uid);
  endNodeNamespace(memory);
}

function endNetwork(memory: string): void {
  const holder = readJson(networkFile(memory)) as ProcessIdentity | undefined;
  if (holder !== undefined) endUnusedNamespace(holder);
}

function networkFile(memory: string): string {
  return join(memory, "network-holder.json");
}
