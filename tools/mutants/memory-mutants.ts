/**
 * Mutants that live by what they saw before: a change that nobody told them of never happens (M7 and its
 * kin).
 */
import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import type { OperatorSource } from "@setpoint/testing";
import type { ReconcileContext, Result, Stored } from "setpoint";
import { claim, configMap, processOf } from "./children.ts";
import { isCurrent } from "./current.ts";
import { claimsOf, ensure, ensureClaims, ordinalOf, retryStale, surplusClaims } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import type { Store } from "./store.ts";

type CountOf = (spec: Store["spec"]) => number;

/** M7: the number of replicas that was seen before decides what is made and what is taken away. */
export function previousReplicas(countOf: CountOf): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => {
      const before = new Map<string, number>();
      return [
        {
          async reconcile(store, context) {
            const wanted = countOf(store.spec);
            if (variant === "twin") return converge(store, context, wanted);
            const has = before.get(store.metadata.uid) ?? (claimsOf(store, context).length === 0 ? 0 : wanted);
            before.set(store.metadata.uid, wanted);
            for (let ordinal = has; ordinal < wanted; ordinal++) await ensure(context, claim(store, `data-${ordinal}`));
            for (let ordinal = wanted; ordinal < has; ordinal++) await take(store, context, ordinal);
            return;
          },
        },
      ];
    });
}

/**
 * M7: volumes stay after a scale-down that was seen, so that the number of volumes tells what was seen, not
 * what is wanted.
 */
export function highWater(countOf: CountOf): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          if (variant === "twin") return converge(store, context, countOf(store.spec));
          await ensureClaims(store, context, countOf(store.spec));
          return;
        },
      },
    ]);
}

/** A volume is taken away when its process is seen to end, and never otherwise. */
export function seenEnding(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const { replicas } = store.spec;
        for (let ordinal = 0; ordinal < replicas; ordinal++) {
          await ensure(context, claim(store, `data-${ordinal}`));
          await ensure(context, processOf(store, ordinal));
        }
        const labels = { "store-uid": store.metadata.uid };
        const surplus = context.list(Pod, { labels }).filter((each) => ordinalOf(each) >= replicas);
        for (const each of surplus) {
          if (each.metadata.deletionTimestamp === undefined) await context.delete(each);
          else if (variant === "mutant") await take(store, context, ordinalOf(each));
        }
        if (variant === "twin" && surplus.length === 0) return converge(store, context, replicas);
        return;
      },
    },
  ]);
}

/** What a store needs once is made when the store is seen in its first state, and never otherwise. */
export function onlyAtFirst(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        if (variant === "twin" || store.metadata.generation === 1)
          await ensure(context, configMap(store, "initialised"));
        await ensure(context, configMap(store, "set", { replicas: `${store.spec.replicas}` }));
      },
    },
  ]);
}

/** As many volumes as wanted, whatever was seen before. */
async function converge(store: Stored<Store>, context: ReconcileContext, wanted: number): Promise<Result | void> {
  await ensureClaims(store, context, wanted);
  const surplus = surplusClaims(store, context, wanted);
  if (surplus.length === 0) return;
  if (!(await isCurrent(store, context))) return retryStale(context);
  for (const each of surplus) await context.delete(each);
}

async function take(store: Stored<Store>, context: ReconcileContext, ordinal: number): Promise<void> {
  const present = context.get(PersistentVolumeClaim, `${store.metadata.name}-data-${ordinal}`);
  if (present !== undefined) await context.delete(present);
}
