/**
 * Mutants that forget what they were doing: a crash between two writes is never made up for (M1, M2, M6, M9,
 * M10, M11).
 */
import { ConfigMap, StatefulSet } from "@setpoint/api";
import type { OperatorSource } from "@setpoint/testing";
import type { ReconcileContext, Stored } from "setpoint";
import { configMap, nameOf, statefulSet, type ChildKind } from "./children.ts";
import { isCurrent } from "./current.ts";
import { ensure, ensureClaims, retryStale, surplusClaims, unowned } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import type { Store } from "./store.ts";

/** M1: two artefacts belong together, and only the first is looked for. */
export function pair(first: ChildKind, second: ChildKind): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          if (variant === "mutant" && context.get(first.kind, nameOf(store, first)) !== undefined) return;
          await ensure(context, first.build(store));
          await ensure(context, second.build(store));
        },
      },
    ]);
}

/** M2: a label says that the start call was made, and is written before it. */
export function labelBeforeAction(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const node = await nodeOf(store, context);
        const isReady = node.metadata.labels?.["state"] === "ready-to-start";
        if (!isReady && variant === "mutant") return;
        const started = (): Promise<void> => ensure(context, configMap(store, "start-call"));
        const labelled = (): Promise<unknown> => context.patch(node, { metadata: { labels: { state: "starting" } } });
        if (variant === "mutant") await labelled();
        await started();
        if (variant === "twin" && isReady) await labelled();
      },
    },
  ]);
}

async function nodeOf(store: Stored<Store>, context: ReconcileContext): Promise<Stored<ConfigMap>> {
  const wanted = configMap(store, "node");
  const present = context.get(ConfigMap, `${store.metadata.name}-node`);
  const labels = { ...wanted.metadata.labels, state: "ready-to-start" };
  return present ?? context.create({ ...wanted, metadata: { ...wanted.metadata, labels } }, unowned);
}

/**
 * M2: the status says that the scale-down has begun, and is taken as proof that the volume is being moved.
 */
export function phaseBeforeAction(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        await ensureClaims(store, context, store.spec.replicas);
        const surplus = surplusClaims(store, context, store.spec.replicas);
        const wasScaling = store.status?.phase === "ScalingDown";
        await context.status({ phase: surplus.length === 0 ? "Ready" : "ScalingDown" });
        if (wasScaling && variant === "mutant") return;
        for (const each of surplus) await context.delete(each);
      },
    },
  ]);
}

/**
 * M6: an immutable field changes, so the operator deletes and recreates the set. It does not record the step
 * between.
 */
export function deleteAndRecreate(variant: Variant): OperatorSource {
  const set = statefulSet("set");
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const size = store.spec.storage;
        const volume = context.get(ConfigMap, `${store.metadata.name}-volume`);
        const resized = (): Promise<void> => ensure(context, configMap(store, "volume", { size }));
        if (volume === undefined || variant === "twin") await resized();
        const present = context.get(StatefulSet, nameOf(store, set));
        if (present !== undefined && present.metadata.annotations?.["size"] !== size) {
          if (variant === "twin" && !(await isCurrent(store, context))) return retryStale(context);
          await context.delete(present);
          if (variant === "mutant") await resized();
        }
        await ensure(context, set.build(store));
        return;
      },
    },
  ]);
}

/**
 * M9: whether the process must be restarted is found out by comparing with the value that was just written.
 */
export function restartAfterWrite(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const { config } = store.spec;
        const present = context.get(ConfigMap, `${store.metadata.name}-config`);
        const isChanged = present?.data?.["config"] !== config;
        await ensure(context, configMap(store, "config", { config }));
        if (variant === "twin" || isChanged) await ensure(context, configMap(store, "process", { runsWith: config }));
      },
    },
  ]);
}

/** M10: the new number of replicas is written to the child before the data of the last one has been moved. */
export function shrinkBeforeMove(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        await ensureClaims(store, context, store.spec.replicas);
        const { replicas } = store.spec;
        const present = context.get(ConfigMap, `${store.metadata.name}-set`);
        const isShrinking = present !== undefined && Number(present.data?.["replicas"]) > replicas;
        const shrunk = (): Promise<void> => ensure(context, configMap(store, "set", { replicas: `${replicas}` }));
        const moved = async (): Promise<void> => {
          for (const each of surplusClaims(store, context, replicas)) await context.delete(each);
        };
        if (variant === "twin" && isShrinking && !(await isCurrent(store, context))) return retryStale(context);
        if (variant === "twin") await moved();
        await shrunk();
        if (variant === "mutant" && isShrinking) await moved();
        return;
      },
    },
  ]);
}

/** M11: the steps of a teardown hang on the first one. */
export function unresumedTeardown(children: readonly ChildKind[]): (variant: Variant) => OperatorSource {
  return (variant) =>
    operatorOf(() => [
      {
        async reconcile(store, context) {
          for (const child of children) await ensure(context, child.build(store));
        },
        async cleanup(store, context) {
          const present = children.map((child) => context.get(child.kind, nameOf(store, child)));
          if (variant === "mutant" && present[0] === undefined) return;
          for (const each of present) if (each !== undefined) await context.delete(each);
        },
      },
    ]);
}
