/** How the mutants and their twins write and look for their children. */
import { PersistentVolumeClaim } from "@setpoint/api";
import type { KubeObject, ReconcileContext, Result, Stored } from "setpoint";
import { claim } from "./children.ts";
import type { Store } from "./store.ts";

/** Children without an owner reference: what an operator forgets stays. */
export const unowned = { owner: false } as const;
const staleRetryMs = 100;

/** Makes a child, or makes it as it should be. */
export async function ensure(context: ReconcileContext, child: KubeObject): Promise<void> {
  await context.apply(child, unowned);
}

/** The store's volumes up to this number. */
export async function ensureClaims(store: Stored<Store>, context: ReconcileContext, count: number): Promise<void> {
  for (let ordinal = 0; ordinal < count; ordinal++) await ensure(context, claim(store, `data-${ordinal}`));
}

/** The store's volumes, as the cache shows them. */
export function claimsOf(store: Stored<Store>, context: ReconcileContext): readonly Stored<PersistentVolumeClaim>[] {
  return context.list(PersistentVolumeClaim, { labels: { "store-uid": store.metadata.uid } });
}

/** Those of the store's volumes that are more than so many. */
export function surplusClaims(
  store: Stored<Store>,
  context: ReconcileContext,
  count: number,
): readonly Stored<PersistentVolumeClaim>[] {
  return claimsOf(store, context).filter((each) => ordinalOf(each) >= count);
}

/** The number at the end of its name. */
export function ordinalOf({ metadata }: Stored<KubeObject>): number {
  return Number(metadata.name.split("-").at(-1));
}

/** Looks again soon, by when the cache may be as new as the server. */
export function retryStale(context: ReconcileContext): Result {
  return context.requeueAfter(staleRetryMs, "stale view");
}
