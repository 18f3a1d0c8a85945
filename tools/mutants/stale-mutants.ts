/** Mutants that believe an old view: what they delete by it is not what they mean (M3, M4, M5, M8). */
import { PersistentVolumeClaim } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import type { OperatorSource } from "@setpoint/testing";
import type { KindRef, ReconcileContext, Stored } from "setpoint";
import { nameOf, type ChildKind } from "./children.ts";
import { fromAnyServer, isCurrent } from "./current.ts";
import { ensure, ensureClaims, ordinalOf, retryStale, unowned } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import type { Store } from "./store.ts";

const nextStepMs = 100;

/** A deletion that names nothing but a name. */
export async function deleteByName(context: ReconcileContext, kind: KindRef, name: string): Promise<void> {
  await context.client.delete(kind, { name, namespace: "default" }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Deletes the object that was seen, if the store on the server is still the one that asks for it. */
async function deleteSeen(context: ReconcileContext, store: Stored<Store>, child: ChildKind): Promise<void> {
  const present = context.get(child.kind, nameOf(store, child));
  if (present !== undefined && present.metadata.labels?.["store-uid"] === store.metadata.uid)
    await context.delete(present);
}

/** M3: what a deleted store leaves behind is deleted by its name, which a namesake may have by now. */
export function deletionByName(children: readonly ChildKind[]): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          for (const child of children) await ensure(context, child.build(store));
        },
        async cleanup(store, context) {
          for (const child of children)
            if (variant === "mutant") await deleteByName(context, child.kind, nameOf(store, child));
            else await deleteSeen(context, store, child);
        },
      },
    ]);
}

/** M4: everything with the store's label is deleted because the store seems to be going. */
export function deletionByLabel(children: readonly ChildKind[]): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          for (const child of children) await ensure(context, child.build(store));
        },
        async cleanup(store, context) {
          const labelSelector = `store=${store.metadata.name}`;
          for (const child of children)
            if (variant === "mutant")
              await context.client.deleteCollection(child.kind, { namespace: "default", labelSelector });
            else await deleteSeen(context, store, child);
        },
      },
    ]);
}

/** M5: a switch that is off in an old view takes away what it once made. */
export function staleSwitch(
  children: readonly ChildKind[],
  isOn: (spec: Store["spec"]) => boolean,
): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          const { spec } = variant === "mutant" ? await fromAnyServer(store, context) : store;
          if (isOn(spec)) {
            for (const child of children) await ensure(context, child.build(store));
            return;
          }
          if (variant === "mutant") {
            for (const child of children) await deleteByName(context, child.kind, nameOf(store, child));
            return;
          }
          if (children.every((child) => context.get(child.kind, nameOf(store, child)) === undefined)) return;
          if (!(await isCurrent(store, context))) return retryStale(context);
          for (const child of children) await deleteSeen(context, store, child);
          return;
        },
      },
    ]);
}

/**
 * M6 as Sieve met it with stale caches: the operator deletes and recreates an object that differs from an old
 * spec.
 */
export function staleRecreation(
  child: ChildKind,
  valueOf: (spec: Store["spec"]) => string,
): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          const seen = variant === "mutant" ? await fromAnyServer(store, context) : store;
          const value = valueOf(seen.spec);
          const wanted = child.build(seen);
          const marked = { ...wanted, metadata: { ...wanted.metadata, annotations: { value } } };
          // Asked from the server, as operators do that read some kinds without a cache.
          const present = await context.fresh(child.kind, nameOf(store, child));
          if (present !== undefined && present.metadata.annotations?.["value"] !== value) {
            if (variant === "twin" && !(await isCurrent(store, context))) return retryStale(context);
            if (variant === "mutant") await deleteByName(context, child.kind, nameOf(store, child));
            else await context.delete(present);
          } else if (present !== undefined) return;
          await context.create(marked, unowned);
          return;
        },
      },
    ]);
}

/** M8: which volume is surplus follows from an old status, and volumes are asked from the server. */
export function surplusByStatus(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(cached, context) {
        const store = variant === "mutant" ? await fromAnyServer(cached, context) : cached;
        const { replicas } = store.spec;
        const ready = store.status?.readyReplicas ?? 0;
        if (ready !== replicas) await context.status({ phase: "Scaling", readyReplicas: ready });
        await ensureClaims(store, context, replicas);
        if (ready === replicas) {
          const removed = await removeSurplus(store, context, variant);
          if (!removed) return retryStale(context);
        }
        await context.status({ phase: "Ready", readyReplicas: replicas });
        return ready === replicas
          ? undefined
          : context.requeueAfter(nextStepMs, "what is surplus is removed once all are ready");
      },
    },
  ]);
}

async function removeSurplus(store: Stored<Store>, context: ReconcileContext, variant: Variant): Promise<boolean> {
  const labelSelector = `store-uid=${store.metadata.uid}`;
  const { items } = await context.client.listAll(PersistentVolumeClaim, { namespace: "default", labelSelector });
  const surplus = items.filter((each) => ordinalOf(each) >= store.spec.replicas);
  if (surplus.length === 0) return true;
  if (variant === "twin" && !(await isCurrent(store, context))) return false;
  for (const each of surplus)
    if (variant === "mutant") await deleteByName(context, PersistentVolumeClaim, each.metadata.name);
    else await context.delete(each);
  return true;
}
