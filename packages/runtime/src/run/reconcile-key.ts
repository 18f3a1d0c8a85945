/** The life of one key in a worker's hands. */
import type { KubeObject, SetpointError } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { declaresStatusField } from "../controller/status-field.ts";
import { OwnWrites } from "../writes/own-writes.ts";
import { createRun, type Run } from "./create-run.ts";
import { slowDownIdleRuns } from "./idle-runs.ts";
import type { KeyState } from "./key-state.ts";
import { afterError, afterSuccess } from "./next-run.ts";
import { updatePause } from "./pause.ts";
import { reconcileObject } from "./reconcile-object.ts";
import type { Reconciler } from "./reconciler.ts";
import { createRunDeadline } from "./run-deadline.ts";
import { runNameOf } from "./run-name.ts";
import type { RunVerdict } from "./run-supervisor.ts";
import type { Worker } from "./workers.ts";

/** A key whose object may be reconciled now. */
interface ReadyKey {
  readonly object: Stored<KubeObject>;
  readonly state: KeyState;
}

interface KeyRun extends ReadyKey {
  readonly reconcileID: string;
  readonly log: Logger;
  readonly ownWrites: OwnWrites;
  readonly worker: Worker;
}

/** From a key that a worker has taken to one that may be taken again. Never rejects. */
export async function reconcileKey(key: string, worker: Worker, on: Reconciler): Promise<void> {
  const { queue, client, host, signal, closing } = on;
  const reconcileID = host.random.uuid();
  const log = on.log.with({ object: key, reconcileID });
  const ownWrites = new OwnWrites(on.cache);
  let verdict: RunVerdict | undefined;
  try {
    const ready = passGates(key, on);
    if (ready !== undefined) verdict = await run({ ...ready, reconcileID, log, ownWrites, worker }, on);
  } catch (error) {
    // Errors of the reconcile are verdicts. This is a function beside it, such as `shardBy`.
    log.error("Cannot run key", { error, retryDelayMs: Math.round(queue.addRateLimited(key)) });
  } finally {
    worker.release();
  }
  // The worker is free. The key is not, until the cache shows what the run has written.
  const barrier = { client, clock: host.clock, log, signal, closing };
  if (!ownWrites.isEmpty && (await ownWrites.settled(barrier))) queue.add(key);
  slowDownIdleRuns(key, verdict, ownWrites, on);
  if (on.states.get(key)?.isAtRest === true) on.states.drop(key);
  queue.done(key);
}

/** Reads the object; undefined when the key is not to be reconciled now. */
function passGates(key: string, on: Reconciler): ReadyKey | undefined {
  const { supervisor, definition, queue, protections, daemons, log, events } = on;
  const isOtherProcesses = !supervisor.mayRun(key);
  if (isOtherProcesses) return forget(key, on);
  const object = on.find(key);
  const isGone = object === undefined;
  if (isGone) return forget(key, on);
  const state = stateOf(key, object, on);
  const isPaused = updatePause(state, object, { controller: definition.name, log, events });
  if (isPaused) {
    state.causes.take();
    queue.forget(key);
    void daemons?.stop(key);
    return undefined;
  }
  const protectedForMs = protections.waitMs(state, object);
  if (protectedForMs <= 0) return { object, state };
  queue.addAfter(key, protectedForMs);
  return undefined;
}

/** Reconciles the object and records why; undefined when it may not run any more. */
async function run(keyRun: KeyRun, on: Reconciler): Promise<RunVerdict | undefined> {
  const { object, state, reconcileID, log, ownWrites, worker } = keyRun;
  const { definition, host, supervisor, protections, metrics, daemons } = on;
  const { key } = state;
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  if (state.fieldConflict !== undefined) await protections.beforeRun(state, object);
  if (isDeleting && daemons !== undefined) await daemons.stop(key);
  // Meanwhile it may have become another process's, which was promised that nothing of it runs here.
  if (!supervisor.mayRun(key)) return forget(key, on);
  if (!isDeleting) daemons?.ensure(key, object);

  const startedMs = host.clock.monotonic();
  const begun = { key, reconcileID, ...state.causes.take() };
  const supervised = supervisor.begin(begun, (request, answer) => ownWrites.answered(request, answer));
  const deadline = createRunDeadline({ definition, host, log, metrics, worker, signal: supervised.signal });
  const signal = deadline?.signal ?? supervised.signal;
  const { client, assertMayWrite } = supervised;
  const written = { writes: ownWrites, memory: state.writes, guard: protections.guardOf(state) };
  const failedLate = (error: SetpointError): void => reportLateFailure(key, error, log, on);
  const started = createRun(object, { ...on, ...written, log, state, client, signal, assertMayWrite, failedLate });
  const verdict = await reconcile(started, keyRun, signal, supervised.signal, on);
  started.calls.end();
  deadline?.end();
  supervised.ended(verdict);
  metrics.ended(verdict.end, host.clock.monotonic() - startedMs);
  return verdict;
}

/**
 * Calls the author's code, which writes children; then writes the status, and decides when the key runs
 * again.
 */
async function reconcile(
  started: Run,
  { object, state, log }: KeyRun,
  signal: AbortSignal,
  reportSignal: AbortSignal,
  { definition, protections, queue, metrics, host }: Reconciler,
): Promise<RunVerdict> {
  const { context, report } = started;
  const next = { definition, queue, metrics, random: host.random, run: runNameOf(definition, object) };
  const slowed = protections.conditionOf(state, object);
  if (slowed !== undefined && declaresStatusField(definition.kind, "conditions")) context.condition(slowed);
  try {
    const result = await reconcileObject(definition, object, started);
    throwLateFailure(state);
    report.recovered();
    return afterSuccess(state.key, result, next);
  } catch (error) {
    const verdict = afterError(state.key, error, signal, log, next);
    await report.failed(verdict, reportSignal);
    return verdict;
  }
}

/** A call of a run has failed after the run's end. The key runs again, and that run fails with the error. */
function reportLateFailure(key: string, error: SetpointError, log: Logger, { states, queue }: Reconciler): void {
  states.of(key).lateFailure = error;
  log.error("Call failed after the end of the reconcile", {
    error,
    retryDelayMs: Math.round(queue.addRateLimited(key)),
  });
}

function throwLateFailure(state: KeyState): void {
  const { lateFailure } = state;
  state.lateFailure = undefined;
  if (lateFailure !== undefined) throw lateFailure;
}

/** What is remembered of the object; a namesake of one that is gone is a stranger. */
function stateOf(key: string, { metadata: { uid } }: KubeObject, on: Reconciler): KeyState {
  let state = on.states.of(key);
  if (state.uid !== undefined && state.uid !== uid) {
    on.queue.forget(key);
    void on.daemons?.stop(key);
    state = on.states.replace(state);
  }
  state.uid = uid;
  return state;
}

/** Nothing of the key is left here. */
function forget(key: string, { states, queue, daemons }: Reconciler): undefined {
  states.drop(key);
  queue.forget(key);
  void daemons?.stop(key);
}
