import { readCompositeController } from "setpoint/hook";
import { expect, test } from "vitest";

/** What is read of a manifest with this spec beside the usual; its hook wants nothing. */
function read(spec: object) {
  const manifest = {
    apiVersion: "metacontroller.k8s.io/v1alpha1",
    kind: "CompositeController",
    metadata: { name: "candies" },
    spec: {
      parentResource: { apiVersion: "example.com/v1", resource: "candies", kind: "Candy" },
      hooks: { sync: { webhook: { url: "http://candies" } } },
      ...spec,
    },
  };
  const { pure } = readCompositeController(manifest, {
    mapper: { find: (name) => expect.unreachable(name) },
    connect: (name) => ({ name, call: async () => ({ children: [] }) }),
  });
  return pure ?? expect.unreachable("it is of the pure form");
}

test("the update strategy of a child is found by its group and kind, not by its kind alone", () => {
  const child = (apiVersion: string, method: string) => ({
    ...{ apiVersion, resource: "services", kind: "Service" },
    updateStrategy: { method },
  });
  const form = read({ childResources: [child("v1", "InPlace"), child("serving.example.com/v1", "Recreate")] });
  const updateOf = (apiVersion: string) => form.update?.({ apiVersion, kind: "Service", metadata: { name: "a" } });
  expect([updateOf("v1"), updateOf("serving.example.com/v1")]).toEqual(["InPlace", "Recreate"]);
});

test("a hook is asked again no more often than once a second, whatever the manifest says", async () => {
  const object = {
    ...{ apiVersion: "example.com/v1", kind: "Candy" },
    metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
  };
  const cache = { get: () => undefined, list: () => [] };
  const asked = { object, owned: {}, related: {}, cache, signal: new AbortController().signal };
  const againMs = async (resyncPeriodSeconds?: number) =>
    (await read(resyncPeriodSeconds === undefined ? {} : { resyncPeriodSeconds }).sync(asked)).resyncAfterMs;
  expect([await againMs(0), await againMs(-5), await againMs(30), await againMs()]).toEqual([
    ...[1_000, 1_000, 30_000],
    undefined,
  ]);
});
