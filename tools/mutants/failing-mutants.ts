/** Mutants whose reconcile or cleanup fails for ever, quietly (M25, M26). */
import { ConfigMap } from "@setpoint/api";
import type { OperatorSource } from "@setpoint/testing";
import { configMap } from "./children.ts";
import { ensure } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";

/** M25: the work is done, and every run ends with an error all the same. */
export function throwsAfterWork(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        await ensure(context, configMap(store, "set"));
        // A mutant's author did not ask the compiler either.
        const schedule =
          variant === "mutant" ? (store.spec.backup as { schedule: string }).schedule : store.spec.backup?.schedule;
        context.log.debug("Read the schedule", { schedule });
      },
    },
  ]);
}

/** M26: the cleanup needs an object that is gone by then, and the store never goes. */
export function cleanupThrows(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        await ensure(context, configMap(store, "set"));
      },
      async cleanup(store, context) {
        const present = context.get(ConfigMap, `${store.metadata.name}-set`);
        if (present !== undefined) {
          await context.delete(present);
          return context.requeueAfter(100, "the set is being deleted");
        }
        if (variant === "mutant") throw new Error("Cannot find the set of the store");
        return undefined;
      },
    },
  ]);
}
