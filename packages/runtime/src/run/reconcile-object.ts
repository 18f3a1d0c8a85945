import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { isTerminalError, TerminalError } from "../errors.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { Run } from "./create-run.ts";
import { isKindBeingDeleted } from "./kind-deletion.ts";
import { isOtherUid } from "../writes/other-uid.ts";
import { lookAgainMs } from "../status/refusal.ts";
import { requeueAfter, type Result } from "../controller/result.ts";
import { isSuspension } from "../writes/suspension.ts";

/**
 * One run of a key whose object is there: a finalizer exists exactly when there is a `cleanup`, it is added
 * before the first effect, and removed when the cleanup has finished.
 */
export async function reconcileObject(
  definition: ControllerDefinition,
  object: Stored<KubeObject>,
  run: Run,
): Promise<Result | void> {
  const { finalizer, hasCleanup, reconcile } = definition;
  const hasFinalizer = object.metadata.finalizers?.includes(finalizer) ?? false;
  if (object.metadata.deletionTimestamp !== undefined) return reconcileDeleting(definition, object, hasFinalizer, run);
  const current = hasFinalizer === hasCleanup ? object : await setFinalizer(object, finalizer, hasCleanup, run);
  return concluded(run, () => reconcile(current, run.context, run.steps));
}

async function reconcileDeleting(
  definition: ControllerDefinition,
  object: Stored<KubeObject>,
  hasFinalizer: boolean,
  run: Run,
): Promise<Result | void> {
  const { finalizer, hasCleanup, reconcile } = definition;
  if (!hasFinalizer) {
    if (definition.reconcileDeleting) return concluded(run, () => reconcile(object, run.context, run.steps));
    if (run.report.deletionPending()) await flushBeforeTheEnd(run);
    return undefined;
  }
  if (hasCleanup) {
    const result = await concluded(run, () => cleanUp(definition, object, run), reportCleanup);
    if (result !== undefined) return result;
  }
  // The cleanup may have written to the object: what counts is how it is now.
  await setFinalizer(run.current(), finalizer, false, run).catch(unlessGone);
}

/** Deleting a kind does not ask for the deletion of the data that its objects own. */
async function cleanUp(
  { kind, cleanup, releaseData }: ControllerDefinition,
  object: Stored<KubeObject>,
  { context, steps }: Run,
): Promise<Result | void> {
  if (releaseData !== undefined && (await isKindBeingDeleted(kind, context.client)))
    return releaseData(object, context, steps);
  return cleanup(object, context, steps);
}

/**
 * Calls the author's code and then writes the status. What the code throws is reported by the caller, who
 * knows when it is retried.
 */
async function concluded(
  run: Run,
  call: () => Promise<Result | void>,
  writeStatus: (run: Run, result: Result | void) => Promise<void> = ({ report }) => report.flush(),
): Promise<Result | void> {
  let result: Result | void;
  try {
    result = await call();
    await run.calls.settled();
    const waitsFor = run.waitsFor();
    // A step waits, and the author's code has caught its error: the run comes back to it all the same.
    if (waitsFor === undefined) run.report.concluded();
    else if (result?.kind !== "requeueAfter") result = waitsFor;
  } catch (error) {
    if (!isSuspension(error)) return refused(run, error);
    result = error.result;
  }
  await writeStatus(run, result);
  return result;
}

async function reportCleanup(run: Run, result: Result | void): Promise<void> {
  if (result === undefined) return flushBeforeTheEnd(run);
  run.report.deletionPending(result);
  await run.report.flush();
}

/** A status that the server refuses must not keep an object for ever whose cleanup has finished. */
async function flushBeforeTheEnd({ report, context }: Run): Promise<void> {
  await report.flush().catch((error: unknown) => context.log.info("Status was not written before the end", { error }));
}

/** The finalizer was removed meanwhile, and the object with it. */
function unlessGone(error: unknown): void {
  if (!isNotFound(error) && !isOtherUid(error)) throw error;
}

/** Whether the run is tried again, and when: as soon as that may help, and not before. */
async function refused(run: Run, error: unknown): Promise<Result> {
  const { report, context } = run;
  const refusal = report.thrown(error);
  if (refusal?.until === "look") {
    await report.flush().catch((cause: unknown) => context.log.debug("Status was not written", { error: cause }));
    context.log.warn(`${report.runName} was refused`, { error, retryDelayMs: lookAgainMs });
    return requeueAfter(lookAgainMs, refusal.message);
  }
  if (refusal?.until === "change" && !isTerminalError(error))
    throw new TerminalError(refusal.message, { cause: error });
  throw error;
}

async function setFinalizer(
  object: Stored<KubeObject>,
  finalizer: string,
  isWanted: boolean,
  run: Run,
): Promise<Stored<KubeObject>> {
  const others = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  const finalizers = isWanted ? [...others, finalizer] : others;
  // A merge patch replaces the whole list, so nothing may have changed since it was read.
  return run.context.patch(object, { metadata: { finalizers } }, { unchanged: true });
}
