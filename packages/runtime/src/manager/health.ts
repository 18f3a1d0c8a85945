import type { Informer } from "../cache/informer.ts";
import type { HealthCheck, HealthReport } from "./manager-options.ts";

/** A report that is well when all its checks are. */
export function healthReport(checks: readonly HealthCheck[]): HealthReport {
  return { ok: checks.every((check) => check.ok), checks };
}

/** Whether the server has been heard of lately; before the first list there is nothing to be stale. */
export function checkFreshness(informer: Informer): HealthCheck {
  const silentMs = informer.silentForMs();
  const silence = silentMs === undefined ? "nothing heard yet" : `last heard ${Math.round(silentMs / 1_000)} s ago`;
  return { name: `watch ${nameOf(informer)}`, ok: silentMs === undefined || informer.isFresh, message: silence };
}

export function checkSynced(informer: Informer): HealthCheck {
  const message = informer.isSynced ? `${informer.store.size} objects` : "the first list is not complete";
  return { name: `cache ${nameOf(informer)}`, ok: informer.isSynced, message };
}

function nameOf({ kind, namespace }: Informer): string {
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return namespace === undefined ? resource : `${resource} in ${namespace}`;
}
