/** Mutants that get in the way of others of their kind, or of themselves (M21, M24). */
import { ConfigMap, ValidatingWebhookConfiguration } from "@setpoint/api";
import { happens, invariant, OrderService, type Setting, type Story, story, apply } from "@setpoint/testing";
import { configMap } from "./children.ts";
import { ensure } from "./ensure.ts";
import type { Mutant, Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";
import { Store } from "./store.ts";
import { changingAnd, storeName } from "./stories.ts";

/**
 * M21: a leader that has lost its lease finishes what it was doing, in a system that does not know of leases.
 */
export const oldLeader: Mutant = {
  id: "M21",
  template: "M21",
  bug: "an old leader finishes its reconcile in the outside world",
  story: changingAnd(
    "a store that orders",
    [{}],
    happens("the store has ordered", (world) =>
      world.until(
        "the status says that it has ordered",
        async () => (await world.get(Store, storeName)).status?.phase === "Ordered",
        { within: 600_000 },
      ),
    ),
  ),
  faults: ["D1", "D2", "D3"],
  operator: (variant) => oldLeaderSetting(variant).operators[0] ?? operatorOf(() => []),
  setting: (variant) => oldLeaderSetting(variant),
};

function oldLeaderSetting(variant: Variant): Setting {
  const factory = new OrderService({ idempotent: true });
  const operator = operatorOf((process) => [
    {
      ledger: true,
      async reconcile(store, context) {
        if (store.status?.phase === "Ordered") return;
        await context.status({ phase: "Ordering" });
        const reference = store.metadata.uid;
        const order = (idempotencyKey?: string): Promise<unknown> =>
          process.call("factory order", "write", () =>
            factory.order({ reference, flavor: "mint", ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }),
          );
        const find = async (): Promise<boolean> =>
          (await process.call("factory find", "look", () => factory.find(reference))).length > 0;
        if (variant === "mutant") await order();
        else
          await context.effect("order", {
            find: async () => ((await find()) ? "ordered" : undefined),
            // The order's name goes to the factory: an order that was given up may still be on its way.
            do: async (key) => {
              await order(key);
              return "ordered";
            },
          });
        await context.status({ phase: "Ordered" });
      },
    },
  ]);
  const once = invariant("each store orders once", () =>
    factory.duplicates.length === 0 ? true : `${factory.orders.length} orders of one store`,
  );
  return { operators: [operator], models: [factory], oracles: [once], replicas: 2, leaderElection: true };
}

const webhookName = "guard.mutants.setpoint.dev";

/** M24: the operator's own webhook refuses what the operator needs to come back. */
export const ownWebhook: Mutant = {
  id: "M24",
  template: "M24",
  bug: "the own webhook blocks the own recovery",
  story: guarded("mutant"),
  operator: (variant) => ownWebhookSetting(variant).operators[0] ?? operatorOf(() => []),
  setting: (variant) => ownWebhookSetting(variant),
  twinStory: guarded("twin"),
};

function ownWebhookSetting(variant: Variant): Setting {
  let isServing = false;
  const operator = operatorOf(() => {
    isServing = false;
    let session = "";
    return [
      {
        async reconcile(store, context) {
          // It says that it is up before it answers for others, as many do with a lock or a marker.
          session ||= context.host.random.uuid();
          await ensure(context, upMarker(variant, session));
          isServing = true;
          await ensure(context, configMap(store, "set"));
        },
      },
    ];
  });
  const call = async (): Promise<{ status: number; text: string }> => {
    if (!isServing) throw new Error("dial tcp 127.0.0.1:9443: connect: connection refused");
    return { status: 200, text: "" };
  };
  return {
    operators: [operator],
    webhooks: { call: ({ body }) => call().then((answer) => ({ ...answer, text: allowed(body) })) },
  };
}

function upMarker(variant: Variant, session: string): ConfigMap {
  const labels = { store: storeName, ...(variant === "twin" ? { own: "true" } : {}) };
  return ConfigMap({
    name: "store-operator-up",
    namespace: "default",
    labels,
    data: { session },
  });
}

function allowed(body: Readonly<Record<string, unknown>>): string {
  const { uid } = body["request"] as { readonly uid: string };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, allowed: true },
  });
}

function guarded(variant: Variant): Story {
  return story(
    "a webhook guards all configurations",
    apply(Store({ name: storeName, spec: {} })),
    apply(
      ValidatingWebhookConfiguration({
        name: webhookName,
        webhooks: [
          {
            name: webhookName,
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            failurePolicy: "Fail",
            clientConfig: { url: "https://127.0.0.1:9443/validate" },
            rules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
            ],
            ...(variant === "twin"
              ? { objectSelector: { matchExpressions: [{ key: "own", operator: "DoesNotExist" }] } }
              : {}),
          },
        ],
      }),
    ),
    apply(Store({ name: "later", spec: {} })),
    happens("the later store has its set", (world) =>
      world.until(
        "the later store has its set",
        async () => (await world.list(ConfigMap)).some(({ metadata }) => metadata.name === "later-set"),
        { within: 600_000 },
      ),
    ),
  );
}
