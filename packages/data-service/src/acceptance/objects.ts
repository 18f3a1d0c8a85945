/** The objects that an acceptance run creates, reads and deletes, all in its own namespace. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "setpoint";
import { done, type StepReport, type SuiteContext, waiting } from "./check.ts";

/** The name of an object of the run. */
export function nameOf({ run }: Pick<SuiteContext, "run">, part: string): string {
  return `${run.metadata.name}-${part}`;
}

export function namespaceOf({ run }: Pick<SuiteContext, "run">): string {
  return run.metadata.namespace ?? "";
}

/**
 * From the cache, which shows the run's own writes; what is not there may be newer than the cache of a new
 * process.
 */
export async function read<T extends KubeObject>(
  context: SuiteContext,
  kind: KindRef<T>,
  name: string,
): Promise<Stored<T> | undefined> {
  const namespace = namespaceOf(context);
  return context.api.get(kind, name, namespace) ?? context.api.fresh(kind, name, namespace);
}

/**
 * Deletes the object, and waits until it is gone. `uid`: only this one, because another one of its name is a
 * stranger.
 */
export async function removed(
  context: SuiteContext,
  kind: KindRef,
  name: string,
  uid: string | undefined,
): Promise<StepReport> {
  const present = await read(context, kind, name);
  if (present === undefined || present.metadata.uid !== uid) return done;
  if (present.metadata.deletionTimestamp === undefined) await context.api.delete(present);
  return waiting(`${kind.kind} "${name}" is being deleted`);
}
