/** Mutants that write carelessly: twice, over another client's fields, or too late (M12, M19, M20, M23). */
import { ConfigMap, Secret } from "@setpoint/api";
import { isConflict } from "@setpoint/apimachinery";
import type { OperatorSource } from "@setpoint/testing";
import type { KubeObject, ReconcileContext, Stored } from "setpoint";
import { configMap, nameOf, secret } from "./children.ts";
import { isCurrent } from "./current.ts";
import { ensure, retryStale, unowned } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import { Store } from "./store.ts";

/** M12: what the clean-up took away is made again, because its disappearance is taken for an accident. */
export function recreatedAfterCleanup(variant: Variant): OperatorSource {
  const key = secret("key");
  return operatorOf(() => [
    {
      name: "keys",
      reconcileDeleting: variant === "mutant",
      async reconcile(store, context) {
        await context.apply(key.build(store), variant === "mutant" ? unowned : {});
      },
    },
    {
      name: "teardown",
      async reconcile() {},
      async cleanup(store, context) {
        const present = context.get(Secret, nameOf(store, key));
        if (present !== undefined) await context.delete(present);
      },
    },
  ]);
}

/** M19: each replica gets a name from the server, and whose answer was lost is made again. */
export function generatedNames(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const { replicas } = store.spec;
        if (variant === "twin") {
          for (let replica = 0; replica < replicas; replica++)
            await ensure(context, configMap(store, `replica-${replica}`));
          return;
        }
        const created = store.status?.created ?? 0;
        if (created >= replicas) return;
        const wanted = configMap(store, `replica-${created}`);
        const { name: _, ...metadata } = wanted.metadata;
        const generateName = `${store.metadata.name}-replica-`;
        // Past the context, which refuses to create what has no name.
        await context.client.create(ConfigMap, {
          ...wanted,
          metadata: { ...metadata, generateName, namespace: "default" },
        });
        await context.status({ created: created + 1 });
      },
    },
  ]);
}

/** M20: after a conflict the same content is sent again under the newest resourceVersion. */
export function conflictLoop(variant: Variant): OperatorSource {
  const shared = secret("shared");
  return operatorOf(() => [
    {
      children: [ConfigMap, Secret],
      async reconcile(store, context) {
        const { config } = store.spec;
        const present = context.get(Secret, nameOf(store, shared));
        const built = shared.build(store);
        const wanted = { ...built, metadata: { ...built.metadata, annotations: { config } } };
        // Something else comes first, as in every real reconcile; meanwhile others write too.
        await ensure(context, configMap(store, "first", { config }));
        for (let look = 0; look < 3; look++) await context.fresh(Store, store.metadata.name);
        if (variant === "twin" || present === undefined || present.metadata.annotations?.["config"] === config)
          await ensure(context, wanted);
        else await overwrite(present, { ...present.metadata.annotations, config }, context);
      },
    },
  ]);
}

async function overwrite(
  read: Stored<Secret>,
  annotations: Readonly<Record<string, string>>,
  context: ReconcileContext,
): Promise<void> {
  let { resourceVersion } = read.metadata;
  for (;;) {
    try {
      await context.client.update(Secret, { ...read, metadata: { ...read.metadata, annotations, resourceVersion } });
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const newest = await context.fresh(Secret, read.metadata.name);
      if (newest === undefined) return;
      resourceVersion = newest.metadata.resourceVersion;
    }
  }
}

/** The page size of M23's list: less than the stores of its story. */
const pageSize = 2;

/** M23: one page of a list is taken for all of it, and what belongs to the others is swept away. */
export function partialList(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        await ensure(context, configMap(store, "entry"));
        if (!(await isCurrent(store, context))) return retryStale(context);
        const known = new Set(await storeUids(variant, context));
        const orphans = context.list(ConfigMap).filter((each) => isOrphan(each, known));
        for (const each of orphans) await context.delete(each);
        return;
      },
    },
  ]);
}

async function storeUids(variant: Variant, context: ReconcileContext): Promise<readonly string[]> {
  const { items } =
    variant === "mutant"
      ? await context.client.list(Store, { namespace: "default", limit: pageSize })
      : await context.client.listAll(Store, { namespace: "default" });
  return items.map(({ metadata }) => metadata.uid);
}

function isOrphan(object: KubeObject, known: ReadonlySet<string>): boolean {
  const uid = object.metadata.labels?.["store-uid"];
  return uid !== undefined && !known.has(uid);
}
