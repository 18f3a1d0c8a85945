/**
 * A write reads the object, decides without a lock, and stores the result only if the object has not changed
 * since. Otherwise it starts again on the newest object (GuaranteedUpdate of upstream).
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { conflict, modifiedMessage } from "../response/api-errors.ts";
import type { StorageKey } from "../storage/storage.ts";

/** How often a write is decided before the client gets a conflict: others were stored first each time. */
const attemptsMax = 10;

/** What to store in place of the object that was read. */
export interface Decision {
  readonly outcome: UnstructuredObject | "delete" | "keep";
  /** Runs synchronously with the store: whether what was decided by other objects still holds. */
  stillHolds?(): boolean;
}

export interface WriteTarget {
  readonly definition: ResourceDefinition;
  readonly key: StorageKey;
  readonly name: string;
  /** The outcome is decided and not stored. */
  readonly dryRun: boolean;
}

export interface Swapped<D extends Decision> {
  readonly decision: D;
  /** The object as it is now, or the deleted one; undefined when there is none. */
  readonly object: UnstructuredObject | undefined;
}

/** Errors: those of `decide`; a 409 when others were stored first `attemptsMax` times. */
export async function compareAndSwap<D extends Decision>(
  context: RegistryContext,
  target: WriteTarget,
  decide: (current: UnstructuredObject | undefined) => Promise<D>,
): Promise<Swapped<D>> {
  const swapped = await attempt(context, target, decide);
  if (swapped !== undefined) return swapped;
  // Retries of one key take turns: many writers of one key would otherwise all retry whenever one of them is
  // stored.
  return context.retries.run(`${target.key.prefix}/${target.key.path}`, async () => {
    for (let attempts = 1; attempts < attemptsMax; attempts++) {
      const retried = await attempt(context, target, decide);
      if (retried !== undefined) return retried;
    }
    throw conflict(target.definition, target.name, modifiedMessage);
  });
}

/** Undefined when the key changed, or the decision no longer held, before the outcome was stored. */
async function attempt<D extends Decision>(
  context: RegistryContext,
  target: WriteTarget,
  decide: (current: UnstructuredObject | undefined) => Promise<D>,
): Promise<Swapped<D> | undefined> {
  const { storage } = context;
  const { key, dryRun } = target;
  if (dryRun) {
    const present = storage.get(key);
    const decision = await decide(present);
    return { decision, object: typeof decision.outcome === "object" ? decision.outcome : present };
  }
  const base = storage.head(key);
  const decision = await decide(base).catch((error: unknown) => refuse(context, key, base, error));
  let isStored = true;
  const { object } = await storage.write(key, (current) => {
    const isSame = current?.metadata.resourceVersion === base?.metadata.resourceVersion;
    isStored = isSame && (decision.stillHolds?.() ?? true);
    return isStored ? decision.outcome : "keep";
  });
  return isStored ? { decision, object } : undefined;
}

/** A refusal that was decided on a write that is not durable yet is only sent when that write is. */
async function refuse(
  { storage }: RegistryContext,
  key: StorageKey,
  base: UnstructuredObject | undefined,
  error: unknown,
): Promise<never> {
  if (base !== storage.get(key)) await storage.write(key, () => "keep");
  throw error;
}
