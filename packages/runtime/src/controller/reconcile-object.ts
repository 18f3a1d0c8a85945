import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { Run } from "./create-context.ts";
import type { Result } from "./result.ts";

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
      const result = await flushed(run, definition.cleanup(object, run.context));
      if (result !== undefined) return result;
    }
    if (hasFinalizer) return void (await setFinalizer(object, finalizer, false, run));
    return reconcileDeleting ? flushed(run, definition.reconcile(object, run.context)) : undefined;
  }
  const current = hasFinalizer === hasCleanup ? object : await setFinalizer(object, finalizer, hasCleanup, run);
  return flushed(run, definition.reconcile(current, run.context));
}

/** Conditions are written also when the run fails: they may say why. */
async function flushed(run: Run, running: Promise<Result | void>): Promise<Result | void> {
  let result: Result | void;
  try {
    result = await running;
  } catch (error) {
    await run.flush().catch((cause: unknown) => run.context.log.debug("Status was not written", { error: cause }));
    throw error;
  }
  await run.flush();
  return result;
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
