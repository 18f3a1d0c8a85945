/**
 * Requests within the size limit whose lists are as long as they can be: work on them is in proportion to
 * their length.
 */
import { ConfigMap, Pod } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import { afterAll, expect, test } from "vitest";
import { Target } from "./target.ts";

const namespace = "default";
const count = 8_000;
const numbers = Array.from({ length: count }, (_, i) => i);
/** What grows with the square of the length took from 10 s to several minutes. */
const worstMsMax = 5_000;

const finalizers = (prefix: string): string[] => numbers.map((i) => `example.com/${prefix}${i}`);
const tolerations = (more: number) =>
  [...numbers, ...Array.from({ length: more }, (_, i) => count + i)].map((i) => ({
    key: `k${i}`,
    operator: "Exists" as const,
  }));
const podOf = (name: string, spec: object, container: object = {}): Pod =>
  Pod({ name, namespace, spec: { ...spec, containers: [{ name: "a", image: "a", ...container }] } });

const attacks: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  [
    "a strategic merge of long lists of texts",
    async (client) => {
      const key = { name: "merged", namespace };
      await client.create(ConfigMap, ConfigMap({ ...key, finalizers: finalizers("f") }));
      await client.patch(ConfigMap, key, { metadata: { finalizers: finalizers("g") } }, { type: "strategic" });
    },
  ],
  [
    "tolerations that are added to a pod with many",
    async (client) => {
      // On no node: nobody starts it.
      await client.create(Pod, podOf("tolerant", { tolerations: tolerations(0), nodeName: "nowhere" }));
      await client.patch(Pod, { name: "tolerant", namespace }, { spec: { tolerations: tolerations(1) } });
    },
  ],
  [
    "managers that an object says it has",
    (client) => {
      // Each is some values, whose number is limited, too.
      const managedFields = numbers.slice(0, 5_000).map((i) => ({
        manager: `m${i}`,
        operation: "Update" as const,
        apiVersion: "v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1" as const,
        fieldsV1: { "f:data": { [`f:k${i}`]: {} } },
      }));
      const { metadata, ...rest } = ConfigMap({ name: "managed", namespace });
      return client.create(ConfigMap, { ...rest, metadata: { ...metadata, managedFields } });
    },
  ],
  [
    "owners",
    (client) => {
      const ownerReferences = numbers.map((i) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        name: `n${i}`,
        uid: `u${i}`,
      }));
      return client.create(ConfigMap, ConfigMap({ name: "owned", namespace, ownerReferences }));
    },
  ],
  [
    "quantities of a few letters with a million digits",
    (client) => {
      const limits = Object.fromEntries(numbers.slice(0, 50).map((i) => [`example.com/r${i}`, "1e1000000"]));
      return client.create(Pod, podOf("quantities", {}, { resources: { limits } })).catch(() => {});
    },
  ],
];

const target = await Target.start();
afterAll(() => target[Symbol.asyncDispose]());

test.each(attacks)("%s keep nobody else waiting", async (_, attack) => {
  await using bystander = target.bystander(20);
  await attack(target.admin);
  await expect.poll(() => bystander.latenciesMs.length).toBeGreaterThan(3);
  expect(bystander.failures).toEqual([]);
  expect(bystander.worstMs).toBeLessThan(worstMsMax);
});
