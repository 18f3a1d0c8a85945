import type { Clock } from "@setpoint/host";
import type { Informer } from "../cache/informer.ts";
import type { ControllerRunner } from "./controller-runner.ts";
import type { LeaderElector } from "../coordination/leader-elector.ts";
import type { ClusterCell } from "./cluster-cell.ts";
import type { HealthCheck, HealthOptions, HealthReport } from "./manager-options.ts";

/**
 * Longer than any burst should take; a process that is behind gets no more requests, but a restart would not
 * help it.
 */
const queueAgeMsMaxDefault = 300_000;
/** A run that takes so long holds a worker and its key for ever; a restart frees both. */
const reconcileMsMaxDefault = 900_000;

/** A report that is well when all its checks are, but for warnings. */
export function healthReport(checks: readonly HealthCheck[]): HealthReport {
  return { ok: checks.every(({ ok, isWarning }) => ok || isWarning === true), checks };
}

/** Whether a restart would help: watches that are silent, runs that do not end. */
export function checkLiveness(cell: ClusterCell, clock: Clock, options: HealthOptions): readonly HealthCheck[] {
  const checks = [
    ...cell.informers.informers.map(checkFreshness),
    ...cell.controllers.map(({ runner }) => checkRuns(runner, clock, options)),
  ];
  return inCluster(cell, checks);
}

/** Whether it can do its work: caches are complete, keys do not wait for too long. */
export function checkReadiness(cell: ClusterCell, clock: Clock, options: HealthOptions): readonly HealthCheck[] {
  const checks = [
    ...cell.informers.informers.map(checkSynced),
    ...cell.controllers.map(({ runner }) => checkQueue(runner, clock, options)),
    // A stream of the outside that is down is no reason to keep requests from this process.
    ...cell.controllers.flatMap(({ runner }) => runner.sources.map((source) => ({ ...source, isWarning: true }))),
  ];
  return inCluster(cell, checks);
}

/** The lease of a process that elects; standing by is well too. */
export function checkLease(elector: LeaderElector): HealthCheck {
  const { isHeld, heldForMs, holder } = elector;
  const message = isHeld
    ? `leading, for ${secondsOf(heldForMs)} more without a renewal`
    : `standing by; ${holder === undefined || holder === "" ? "nobody is known to lead" : `"${holder}" leads`}`;
  return { name: "lease", ok: true, message };
}

/** Whether the server has been heard of lately; before the first list there is nothing to be stale. */
function checkFreshness(informer: Informer): HealthCheck {
  const silentMs = informer.silentForMs();
  const silence = silentMs === undefined ? "nothing heard yet" : `last heard ${secondsOf(silentMs)} ago`;
  return { name: `watch ${nameOf(informer)}`, ok: silentMs === undefined || informer.isFresh, message: silence };
}

function checkSynced(informer: Informer): HealthCheck {
  const ok = informer.isSynced && !informer.isDoubtful;
  const message = ok ? `${informer.store.size} objects` : (informer.problem ?? "the first list is not complete");
  return { name: `cache ${nameOf(informer)}`, ok, message };
}

function checkRuns(runner: ControllerRunner, clock: Clock, options: HealthOptions): HealthCheck {
  const { reconcileMsMax = reconcileMsMaxDefault } = options;
  const { queue, definition } = runner;
  const longest = queue.longestRunning;
  const forMs = longest === undefined ? 0 : clock.monotonic() - longest.sinceMs;
  const message =
    longest === undefined ? "nothing runs" : `${definition.kind.kind} "${longest.key}" runs for ${secondsOf(forMs)}`;
  return {
    name: `reconcile ${definition.name}`,
    ok: forMs <= reconcileMsMax,
    message: limited(message, forMs, reconcileMsMax),
  };
}

function checkQueue(runner: ControllerRunner, clock: Clock, options: HealthOptions): HealthCheck {
  const { queueAgeMsMax = queueAgeMsMaxDefault } = options;
  const { queue, definition, activeSinceMs } = runner;
  const name = `queue ${definition.name}`;
  if (activeSinceMs === undefined)
    return { name, ok: true, message: `${queue.depth} keys wait for this process to lead` };
  // Keys that have waited while another process led are not late.
  const forMs = Math.min(queue.oldestWaitMs, clock.monotonic() - activeSinceMs);
  const message = queue.depth === 0 ? "empty" : `${queue.depth} keys, the oldest waits for ${secondsOf(forMs)}`;
  return { name, ok: forMs <= queueAgeMsMax, message: limited(message, forMs, queueAgeMsMax) };
}

function limited(message: string, ms: number, msMax: number): string {
  return ms <= msMax ? message : `${message}, longer than ${secondsOf(msMax)}`;
}

/** A restart of this process does not fix a failing check of another cluster. */
function inCluster({ name }: ClusterCell, checks: readonly HealthCheck[]): readonly HealthCheck[] {
  if (name === undefined) return checks;
  return checks.map((check) => ({ ...check, name: `${name}: ${check.name}`, isWarning: true }));
}

function secondsOf(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

function nameOf({ kind, namespace }: Informer): string {
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return namespace === undefined ? resource : `${resource} in ${namespace}`;
}
