/**
 * Mutants that trust what they only read: a cached list, and a Secret that the cache does not show (M27,
 * M28).
 */
import { ConfigMap, Secret } from "@setpoint/api";
import { apply, type OperatorSource, patch, type Story, story } from "@setpoint/testing";
import { configMap, labelsOf } from "./children.ts";
import { ensure, ordinalOf, retryStale } from "./ensure.ts";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import { deleteByName } from "./stale-mutants.ts";
import { Store } from "./store.ts";
import { storeName } from "./stories.ts";

/** M27: ConfigMaps that a cached list shows as surplus are deleted by their names. */
export function surplusByName(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const { replicas } = store.spec;
        for (let ordinal = 0; ordinal < replicas; ordinal++) await ensure(context, configMap(store, `part-${ordinal}`));
        const surplus = context
          .list(ConfigMap, { labels: labelsOf(store) })
          .filter((each) => ordinalOf(each) >= replicas);
        for (const each of surplus)
          if (variant === "mutant") await deleteByName(context, ConfigMap, each.metadata.name);
          else await context.delete(each);
      },
    },
  ]);
}

const credentialsName = `${storeName}-credentials`;

/**
 * M28: a Secret that the cache does not show is taken for deleted, and with it goes what was made from it.
 */
export function missingIsDeleted(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const access = context.get(ConfigMap, `${store.metadata.name}-access`);
        const cached = context.get(Secret, credentialsName);
        const credentials = variant === "mutant" ? cached : (cached ?? (await context.fresh(Secret, credentialsName)));
        if (credentials !== undefined) await ensure(context, configMap(store, "access", { config: store.spec.config }));
        else if (access !== undefined) await context.delete(access);
        // The mutant's author has thought of a cache that lags; but not of one that lags for longer.
        else if (variant === "mutant") return retryStale(context);
        return undefined;
      },
    },
  ]);
}

/** A user makes the credentials, then the store that needs them, and later changes the store. */
export const withCredentials: Story = story(
  "a store with credentials of its user",
  apply(Secret({ name: credentialsName, stringData: { password: "canary of credentials" } })),
  apply(Store({ name: storeName, spec: { config: "a" } })),
  patch(Store, storeName, { spec: { config: "b" } }),
);
