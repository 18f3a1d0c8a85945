/** Each rule, held against an operator that breaks just this one. */
import { ConfigMap, PersistentVolumeClaim, Pod, Secret } from "@setpoint/api";
import { controller, defineKind, defineOperator, type ReconcileContext, type Stored } from "setpoint";
import { evictPod } from "setpoint/client";
import { expect, test } from "vitest";
import { z } from "zod";
import { explore } from "../explore/explore.ts";
import { patch, story } from "../explore/story.ts";

const Thing = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Thing",
  spec: z.object({ value: z.string() }),
  status: z.object({ done: z.boolean(), observedGeneration: z.int().optional() }),
});

type Reconcile = (thing: Stored<ReturnType<typeof Thing>>, context: ReconcileContext) => Promise<void>;

const thing = Thing({ name: "a", spec: { value: "one" } });
const change = patch(Thing, "a", { spec: { value: "two" } });
const secret = Secret({ name: "key", stringData: { password: "correct-horse-battery" } });
const claim = PersistentVolumeClaim({
  name: "data",
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});
const pod = Pod({ name: "old", spec: { containers: [{ name: "main", image: "idle" }] } });
const permissions = [
  { apiGroups: [""], resources: ["configmaps", "secrets", "persistentvolumeclaims", "pods"], verbs: ["*"] },
  { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
];

/** The rules that this operator breaks, without any fault. */
async function broken(reconcile: Reconcile): Promise<readonly string[]> {
  const things = controller(Thing, { owns: [ConfigMap], reconcile });
  const found = await explore({
    subject: defineOperator({ name: "things", controllers: [things], permissions }),
    worlds: [story("a life", secret, claim, pod, thing, change)],
    seed: 7,
    faults: [],
    quietMs: 60_000,
    withinMs: 60_000,
  });
  return found.failures.map(({ rule }) => `${rule.oracle}: ${rule.sentence}`);
}

test("an operator that does nothing wrong breaks no rule", async () => {
  expect(
    await broken(
      async ({ spec }, { apply }) => void (await apply(ConfigMap({ name: "a", data: { value: spec.value } }))),
    ),
  ).toEqual([]);
});

test("a claim that is deleted by its name alone is an alarm", async () => {
  const [rule] = await broken(async ({ spec }, { client }) => {
    if (spec.value === "two")
      await client.delete(PersistentVolumeClaim, { name: "data", namespace: "default" }).catch(() => {});
  });
  expect(rule).toMatch(/^deletes only by UID: DELETE default\/persistentvolumeclaims\/data names no UID/);
});

test("a ConfigMap of a cached list that is deleted by its name alone is an alarm", async () => {
  const [rule] = await broken(async ({ spec }, { apply, client, list }) => {
    if (spec.value === "one") await apply(ConfigMap({ name: "part", data: {} }));
    else
      for (const { metadata } of list(ConfigMap))
        await client.delete(ConfigMap, { name: metadata.name, namespace: "default" }).catch(() => {});
  });
  expect(rule).toMatch(/^deletes only by UID: DELETE default\/configmaps\/.* names no UID/);
});

test("a pod that is evicted by its name alone is an alarm, and one that is evicted with its UID is none", async () => {
  const evictions = (withUid: boolean): Reconcile => {
    return async ({ spec }, { client }) => {
      if (spec.value !== "two") return;
      const key = { name: "old", namespace: "default" };
      const { uid } = (await client.get(Pod, key)).metadata;
      await evictPod(client, key, withUid ? { preconditions: { uid } } : {});
    };
  };
  const [rule] = await broken(evictions(false));
  expect(rule).toMatch(/^deletes only by UID: POST default\/pods\/old\/eviction\S* names no UID/);
  expect(await broken(evictions(true))).toEqual([]);
});

test("a secret in another object is an alarm", async () => {
  const [rule] = await broken(async (_, { apply, client }) => {
    const { data } = await client.get(Secret, { name: "key", namespace: "default" });
    await apply(ConfigMap({ name: "a", data: { url: `db://${atob(data?.["password"] ?? "")}@db` } }));
  });
  expect(rule).toMatch(/^keeps secrets: .* carries the secret key\/password/);
});

test("a secret in the log is an alarm", async () => {
  const [rule] = await broken(async (_, { log, client }) => {
    const { data } = await client.get(Secret, { name: "key", namespace: "default" });
    log.info("Connected", { password: atob(data?.["password"] ?? "") });
  });
  expect(rule).toMatch(/^keeps secrets: the log line "Connected" carries/);
});

test("a request that the operator's own rules do not allow is an alarm", async () => {
  const rules = await broken(async (_, { client }) => {
    const preconditions = { uid: "0b6f2b0e-7d7c-4f0e-9d2f-0c3c1e9a7a11" };
    await client.delete(Thing, { name: "other", namespace: "default" }, { preconditions }).catch(() => {});
  });
  expect(rules.join()).toContain("declared rights: DELETE default/things/other");
});

test("a status that is ahead of its object is an alarm", async () => {
  const rules = await broken(async ({ metadata }, { client }) => {
    const status = { done: true, observedGeneration: (metadata.generation ?? 0) + 1 };
    await client.patch(Thing, { name: "a", namespace: "default" }, { status }, { subresource: "status" });
  });
  expect(rules.join()).toContain("honest status");
});

test("removing another client's label breaks a rule", async () => {
  const things = controller(Thing, {
    owns: [ConfigMap],
    async reconcile(_, { apply, children, client }) {
      const [map] = children.list(ConfigMap);
      if (map === undefined) return void (await apply(ConfigMap({ name: "a", labels: { mine: "yes" } })));
      const { resourceVersion: _old, managedFields: _fields, ...metadata } = map.metadata;
      if (Object.keys(map.metadata.labels ?? {}).length > 1)
        await client.update(ConfigMap, { ...map, metadata: { ...metadata, labels: { mine: "yes" } } });
    },
  });
  const found = await explore({
    subject: defineOperator({ name: "things", controllers: [things], permissions }),
    worlds: [thing],
    seed: 7,
    faults: ["E2"],
    quietMs: 60_000,
  });
  expect(found.failures.map(({ rule }) => rule.oracle)).toContain("leaves foreign fields alone");
});
