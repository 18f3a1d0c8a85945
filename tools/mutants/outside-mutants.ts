/**
 * Mutants whose bug shows outside of the API's own deletions and objects: an eviction by name, and an update
 * of another system whose error is swallowed (M29, M30).
 */
import { Pod } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import type { OperatorSource, OutsideModel, Setting } from "@setpoint/testing";
import type { ReconcileContext, Stored } from "setpoint";
import { evictPod } from "setpoint/client";
import { labelsOf, processOf } from "./children.ts";
import { ensure, ordinalOf } from "./ensure.ts";
import type { Mutant, Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import { changing } from "./stories.ts";

/** How often a twin compares what it has written outside. */
const lookMs = 10_000;

/** M29: pods that a cached list shows as surplus are evicted by their names. */
export function evictionByName(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, context) {
        const { replicas } = store.spec;
        for (let ordinal = 0; ordinal < replicas; ordinal++) await ensure(context, processOf(store, ordinal));
        const surplus = context.list(Pod, { labels: labelsOf(store) }).filter((each) => ordinalOf(each) >= replicas);
        for (const each of surplus)
          if (each.metadata.deletionTimestamp === undefined) await evict(each, context, variant);
      },
    },
  ]);
}

async function evict({ metadata }: Stored<Pod>, { client }: ReconcileContext, variant: Variant): Promise<void> {
  const { name, namespace = "default", uid } = metadata;
  const options = variant === "mutant" ? {} : { preconditions: { uid } };
  await evictPod(client, { name, namespace }, options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** A directory outside of the cluster: names with one value each. */
class Directory implements OutsideModel {
  readonly #entries = new Map<string, string>();

  data(): Readonly<Record<string, unknown>> {
    return { entries: Object.fromEntries(this.#entries) };
  }

  async get(name: string): Promise<string | undefined> {
    return this.#entries.get(name);
  }

  async set(name: string, value: string): Promise<void> {
    this.#entries.set(name, value);
  }
}

/** M30: an update outside fails, and the status says that it is done. */
export const swallowedUpdate: Mutant = {
  id: "M30",
  template: "M30",
  bug: "the error of an update outside of the cluster is swallowed",
  story: changing({ config: "a" }, { config: "b" }),
  operator: (variant) => swallowedSetting(variant).operators[0] ?? operatorOf(() => []),
  setting: (variant) => swallowedSetting(variant),
};

function swallowedSetting(variant: Variant): Setting {
  const directory = new Directory();
  const operator = operatorOf((process) => [
    {
      async reconcile(store, context) {
        const { name } = store.metadata;
        const { config } = store.spec;
        const update = (): Promise<void> =>
          process.call("directory update", "write", () => directory.set(name, config));
        if (variant === "mutant") {
          if (store.status?.phase === config) return;
          await update().catch(() => {});
          await context.status({ phase: config });
          return;
        }
        const entry = await process.call("directory look", "look", () => directory.get(name));
        if (entry !== config) await update();
        await context.status({ phase: config });
        // An earlier update that timed out may still arrive.
        return context.requeueAfter(lookMs, "the entry is compared with the spec");
      },
    },
  ]);
  return { operators: [operator], models: [directory] };
}
