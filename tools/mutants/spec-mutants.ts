/**
 * Mutants that do not do what the spec says when it changes: no fault is needed, only the change (M13–M18).
 */
import { ConfigMap } from "@setpoint/api";
import type { OperatorSource } from "@setpoint/testing";
import { configMap } from "./children.ts";
import { ensure } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";

/** M13: a field is set when the child is made, and never again. */
export function onlyOnCreate(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const wanted = configMap(store, "set", { image: store.spec.image });
        const isThere = context.get(ConfigMap, `${store.metadata.name}-set`) !== undefined;
        if (variant === "twin" || !isThere) await ensure(context, wanted);
      },
    },
  ]);
}

/** M14: what is taken out of a map in the spec stays in the child. */
export function removalForgotten(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const present = context.get(ConfigMap, `${store.metadata.name}-set`);
        const kept = variant === "mutant" ? present?.data : {};
        await ensure(context, configMap(store, "set", { ...kept, ...store.spec.labels }));
      },
    },
  ]);
}

/** M15: a roll-out that does not get ready is waited for, although the spec has been corrected meanwhile. */
export function waitsForBad(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const present = context.get(ConfigMap, `${store.metadata.name}-rollout`);
        // The roll-out of an image whose name says so never gets ready.
        const isStuck = present?.data?.["image"]?.endsWith("bad") === true;
        if (isStuck && variant === "mutant") return;
        await ensure(context, configMap(store, "rollout", { image: store.spec.image }));
      },
    },
  ]);
}

/** M16: a block of the spec that is absent is read as if it were there. */
export function absentBlock(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const { backup } = store.spec;
        // A mutant's author did not ask the compiler either.
        const schedule =
          variant === "mutant" ? (backup as { schedule: string }).schedule : (backup?.schedule ?? "never");
        await ensure(context, configMap(store, "backups", { schedule }));
      },
    },
  ]);
}

/**
 * M17: a value that makes no sense is taken, and what follows from it fails for ever without a word to the
 * user.
 */
export function senselessValue(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const schedule = store.spec.backup?.schedule ?? "daily";
        const isKnown = schedule === "daily" || schedule === "hourly";
        if (!isKnown && variant === "mutant") throw new Error(`no such schedule: ${schedule}`);
        await context.status({ accepted: isKnown });
        if (isKnown) await ensure(context, configMap(store, "backups", { schedule }));
      },
    },
  ]);
}

/** M18: a child is replaced as a whole, with the labels that others have put there. */
export function foreignLabels(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const wanted = configMap(store, "set", { config: store.spec.config });
        const present = context.get(ConfigMap, `${store.metadata.name}-set`);
        if (variant === "twin" || present === undefined) await ensure(context, wanted);
        else if (present.data?.["config"] !== store.spec.config) {
          const { resourceVersion } = present.metadata;
          await context.client.update(ConfigMap, {
            ...wanted,
            metadata: { ...wanted.metadata, namespace: "default", resourceVersion },
          });
        }
      },
    },
  ]);
}
