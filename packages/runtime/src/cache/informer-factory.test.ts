import { createKind, type ApiRequest, type KubeObject, type Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { CacheOptions } from "./cache-options.ts";
import { InformerFactory } from "./informer-factory.ts";

const kind = (name: string, plural: string) =>
  createKind<KubeObject>({ group: "", version: "v1", kind: name, plural, namespaced: true });
const Secret = kind("Secret", "secrets");
const ConfigMap = kind("ConfigMap", "configmaps");

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "token", namespace: "default", uid: "1", resourceVersion: "3" },
};
const end = { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } };

function create(options?: CacheOptions) {
  const requests: ApiRequest[] = [];
  const transport: Transport = {
    async send(request, signal) {
      requests.push(request);
      async function* frames() {
        yield { type: "ADDED" as const, object: secret };
        yield { type: "BOOKMARK" as const, object: end };
        await new Promise((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
        );
      }
      return { kind: "watch", status: 200, headers: {}, frames: frames() };
    },
  };
  const host = simulatedHost(1);
  return { host, requests, factory: new InformerFactory(createClient(transport, host), host, options) };
}

test("one kind and selection has one informer for all callers", () => {
  const { factory } = create();
  expect(factory.informer(ConfigMap)).toBe(factory.informer(ConfigMap, {}));
  expect(factory.informer(ConfigMap, { labelSelector: "app=web" })).not.toBe(factory.informer(ConfigMap));
});

test("settings of a kind say which of its objects are cached, and what of them", async () => {
  const { host, factory, requests } = create({
    kinds: [
      { kind: ConfigMap, namespace: "kube-system", fieldSelector: "metadata.name=coredns" },
      { kind: ConfigMap, labelSelector: "app=web", metadataOnly: true },
    ],
  });
  factory.informer(ConfigMap);
  factory.informer(ConfigMap, { namespace: "kube-system" });
  factory.start();
  await host.clock.settle();
  expect(requests.map(({ path, query }) => [path, query?.["labelSelector"] ?? query?.["fieldSelector"]])).toEqual([
    ["/api/v1/configmaps", "app=web"],
    ["/api/v1/namespaces/kube-system/configmaps", "metadata.name=coredns"],
  ]);
  expect(requests[0]?.headers?.["accept"]).toContain("as=PartialObjectMetadata");
  await factory.stop();
});

test("a cache of all Secrets is warned of, or refused, unless something bounds it", () => {
  const { factory, host } = create();
  factory.informer(Secret);
  expect(host.lines.map(({ level, message }) => [level, message])).toEqual([["warn", "Caching all Secrets"]]);
  const { factory: strict } = create({ unboundedSecrets: "refuse" });
  expect(() => strict.informer(Secret)).toThrow("Cannot cache Secrets");
  for (const options of [{ namespace: "default" }, { labelSelector: "app=web" }, { metadataOnly: true }])
    expect(strict.informer(Secret, options).kind).toBe(Secret);
});

test("metrics tell what is cached, how large it is and how old", async () => {
  const { host, factory } = create();
  factory.informer(Secret);
  factory.start();
  await host.clock.run(5_000);
  const text = host.metrics.expose();
  expect(text).toContain('setpoint_cache_objects{kind="secrets"} 1');
  expect(text).toContain('setpoint_cache_age_seconds{kind="secrets"} 5');
  expect(text).toContain('setpoint_cache_lists_total{kind="secrets",method="watchList"} 1');
  await factory.stop();
});
