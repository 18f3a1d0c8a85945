import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { isTerminalError, TerminalError } from "../errors.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { Run } from "./create-context.ts";
import { isKindLeaving } from "./kind-departure.ts";
import { isOtherUid } from "../writes/other-uid.ts";
import { lookAgainMs } from "../status/refusal.ts";
import { requeueAfter, type Result } from "../controller/result.ts";
import { isSuspension } from "../writes/suspension.ts";

/**
 * One run of a key whose object is there: a finalizer exists exactly when there is a `cleanup`, it is added before the first
 * effect, and removed when the cleanup has finished.
 */
export async function reconcileObject(
  definition: ControllerDefinition,
  object: Stored<KubeObject>,
  run: Run,
): Promise<Result | void> {
  const { finalizer, hasCleanup, reconcileDeleting } = definition;
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  const hasFinalizer = object.metadata.finalizers?.includes(finalizer) ?? false;
  if (isDeleting) {
    if (hasFinalizer && hasCleanup) {
      const result = await concluded(run, () => cleanUp(definition, object, run), sayBeforeTheEnd);
      if (result !== undefined) return result;
    }
    // The cleanup may have written to the object: what counts is how it is now.
    if (hasFinalizer) return void (await setFinalizer(run.current(), finalizer, false, run).catch(unlessGone));
    return reconcileDeleting ? concluded(run, () => definition.reconcile(object, run.context)) : undefined;
  }
  const current = hasFinalizer === hasCleanup ? object : await setFinalizer(object, finalizer, hasCleanup, run);
  return concluded(run, () => definition.reconcile(current, run.context));
}

/** Whoever deletes a kind has not asked for the end of the data that its objects own. */
async function cleanUp(
  { kind, cleanup, releaseData }: ControllerDefinition,
  object: Stored<KubeObject>,
  { context }: Run,
): Promise<Result | void> {
  if (releaseData !== undefined && (await isKindLeaving(kind, context.client))) return releaseData(object, context);
  return cleanup(object, context);
}

/** Conditions are written also when the run fails: they may say why. */
async function concluded(
  run: Run,
  reconcile: () => Promise<Result | void>,
  say: (run: Run, result: Result | void) => Promise<void> = (each) => each.flush(),
): Promise<Result | void> {
  let result: Result | void;
  try {
    result = await reconcile();
    const waitsFor = run.waitsFor();
    // A step waits, and the author's code has kept its error: the run comes back to it all the same.
    if (waitsFor === undefined) run.succeeded();
    else if (result?.kind !== "requeueAfter") result = waitsFor;
  } catch (error) {
    if (!isSuspension(error)) return failed(run, error);
    result = error.result;
  }
  await say(run, result);
  return result;
}

/** A status that the server does not take must not keep an object for ever whose cleanup has finished. */
async function sayBeforeTheEnd(run: Run, result: Result | void): Promise<void> {
  if (result !== undefined) return run.flush();
  await run.flush().catch((error: unknown) => run.context.log.info("Status was not written before the end", { error }));
}

/** Somebody has removed the finalizer meanwhile, and with it the object: it was wanted away. */
function unlessGone(error: unknown): void {
  if (!isNotFound(error) && !isOtherUid(error)) throw error;
}

/** What the user has to see is said; then the run is tried again as soon as that may help, and not before. */
async function failed(run: Run, error: unknown): Promise<Result> {
  const refusal = run.refused(error);
  await run.flush().catch((cause: unknown) => run.context.log.debug("Status was not written", { error: cause }));
  if (refusal?.until === "look") {
    run.context.log.warn("Reconcile was refused and looks again", { error, nextLookMs: lookAgainMs });
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
