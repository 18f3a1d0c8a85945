import type { Pod } from "@setpoint/api";

/** Nodes of pods, by UID, that were bound and that the cache does not show as bound yet. */
export type AssumedBindings = Map<string, string>;

/** Forgets what the cache shows by now, and pods that are gone. */
export function forgetSeen(assumed: AssumedBindings, pods: readonly Pod[]): void {
  if (assumed.size === 0) return;
  const pending = new Set(pods.filter((pod) => (pod.spec?.nodeName ?? "") === "").map((pod) => pod.metadata.uid));
  for (const uid of assumed.keys()) if (!pending.has(uid)) assumed.delete(uid);
}
