/** The end of a cluster's network namespace after a kill of `setpoint up`, when no start adopts it. */
import { readdirSync, readlinkSync } from "node:fs";
import { isAlive, type ProcessIdentity, signalProcess } from "../host/process-identity.ts";

/**
 * Ends the holder unless another process is in its namespace: that of an agent, or of a `setpoint up` that
 * adopted it.
 */
export function endUnusedNamespace(holder: ProcessIdentity): void {
  const namespace = networkOf(String(holder.pid));
  if (namespace === undefined || !isAlive(holder)) return;
  const others = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== holder.pid);
  if (!others.some((pid) => networkOf(pid) === namespace)) signalProcess(holder, "SIGKILL");
}

/** Undefined when there is no such process, or it belongs to another user. */
function networkOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}
