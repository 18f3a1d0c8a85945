import type { Pod } from "@setpoint/api";
import type { Client } from "@setpoint/client";

/** Nodes of pods, by UID, that were bound and that the cache does not show as bound yet. */
export type AssumedBindings = Map<string, string>;

const byClient = new WeakMap<Client, AssumedBindings>();

/** What was bound through this client: a manager has one, so worlds and restarts do not see each other's. */
export function assumedBindings(client: Client): AssumedBindings {
  let assumed = byClient.get(client);
  if (assumed === undefined) {
    assumed = new Map();
    byClient.set(client, assumed);
  }
  return assumed;
}

/** Forgets what the cache shows by now, and pods that are gone. */
export function forgetSeen(assumed: AssumedBindings, pods: readonly Pod[]): void {
  if (assumed.size === 0) return;
  const pending = new Set(pods.filter((pod) => (pod.spec?.nodeName ?? "") === "").map((pod) => pod.metadata.uid));
  for (const uid of assumed.keys()) if (!pending.has(uid)) assumed.delete(uid);
}
