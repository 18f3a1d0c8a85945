import type { ReconcileContext, Stored } from "setpoint";
import { Store } from "./store.ts";

/**
 * Whether the server's object is the one that was looked at: what the twins ask before they take anything
 * away.
 */
export async function isCurrent(store: Stored<Store>, context: ReconcileContext): Promise<boolean> {
  const now = await context.fresh(Store, store.metadata.name);
  return now?.metadata.uid === store.metadata.uid && now.metadata.generation === store.metadata.generation;
}

/**
 * As others read when they start: from any server, however far it is behind. What Setpoint's caches show
 * never goes back, also over a restart, so the mutants that live by old views have to read past them.
 */
export async function fromAnyServer(store: Stored<Store>, context: ReconcileContext): Promise<Stored<Store>> {
  const { items } = await context.client.list(Store, { namespace: "default", resourceVersion: "0" });
  return items.find(({ metadata }) => metadata.name === store.metadata.name) ?? store;
}
