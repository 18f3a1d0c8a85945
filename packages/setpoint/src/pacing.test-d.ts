/**
 * The examples of docs/queue.md, docs/sources.md, docs/handlers.md and docs/protection.md, as they have to
 * compile.
 */
import { Deployment, Secret } from "@setpoint/api";
import { controller, createKind, keyOf, minutes, seconds, watching, type KubeObject, type Stored } from "setpoint";
import {
  anyOf,
  changed,
  cron,
  every,
  fromIterable,
  labelsChanged,
  onChange,
  pushSource,
  timer,
} from "setpoint/sources";

interface Shop extends KubeObject {
  readonly spec: { readonly size: number; readonly region: string; readonly tier: string; readonly secret: string };
}

const Shop = createKind<Shop>({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Shop",
  plural: "shops",
  namespaced: true,
});

declare const broker: { messages(signal: AbortSignal): AsyncIterable<{ readonly shop: string }> };
declare function changesOf(shop: Stored<Shop>, signal: AbortSignal): AsyncIterable<string>;
declare function hasMoved(shop: Stored<Shop>): Promise<boolean>;
declare function resize(shop: Stored<Shop>, size: number): Promise<void>;

const uses =
  (secret: Stored<Secret>) =>
  (shop: Stored<Shop>): boolean =>
    shop.spec.secret === secret.metadata.name;

const hooks = pushSource("payments");
hooks.push({ namespace: "shops", name: "corner" });

controller(Shop, {
  owns: [Deployment],
  concurrency: 8,
  fairness: (shop) => shop.metadata.labels?.["team"] ?? "",
  priority: (shop) => (shop.spec.tier === "production" ? "high" : "normal"),
  rateLimit: { minIntervalMs: seconds(10), burst: 3 },
  timeoutMs: minutes(2),
  maxReconcileIntervalMs: minutes(30),
  limits: { deletesPerMinute: 20, childrenChangedShare: 0.3, idleRunsPerMinute: 120 },
  watches: [
    watching(
      Secret,
      (secret, cache) => cache.list(Shop, { namespace: secret.metadata.namespace }).filter(uses(secret)).map(keyOf),
      {
        predicate: changed("data"),
      },
    ),
  ],
  predicate: anyOf(changed("spec.size", "spec.region"), labelsChanged("tier")),
  sources: [
    every(minutes(10)),
    cron("0 3 * * *", { timeZone: "Europe/Berlin" }, (cache) => cache.list(Shop, { allNamespaces: true }).map(keyOf)),
    fromIterable(
      (signal) => broker.messages(signal),
      (message) => [{ namespace: "shops", name: message.shop }],
      { name: "broker" },
    ),
    hooks,
  ],
  fields: [
    onChange("spec.size", async ({ old, new: size, isFirst }, shop, { event }) => {
      if (isFirst) return;
      await resize(shop, size);
      event("Normal", "Resized", `from ${old} to ${size}`);
    }),
  ],
  daemons: {
    probe: timer(seconds(30), async (shop, { wake }) => {
      if (await hasMoved(shop)) wake();
    }),
    async mirror(shop, { signal, current }) {
      for await (const change of changesOf(shop, signal)) await resize(current(), change.length);
    },
  },
  async reconcile(_shop, { signal }) {
    signal.throwIfAborted();
  },
});
