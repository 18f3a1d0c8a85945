import { expect, test } from "vitest";
import { builtinResources } from "./builtin/builtin-resources.ts";
import { Registry } from "./registry.ts";

const [pods] = builtinResources().filter((each) => each.resource === "pods");
if (pods === undefined) throw new Error("there are no pods");
const widget = { ...pods, group: "example.com", resource: "widgets", custom: true, storageVersion: "v1" };
const alpha = { ...widget, version: "v1alpha1" };
const stable = { ...widget, version: "v1" };

test("Registry serves the resources of a CRD beside the built-in ones until they are removed, and other registries do not", () => {
  const registry = new Registry(builtinResources());
  const other = new Registry(builtinResources());
  registry.setCustom("widgets.example.com", [alpha, stable]);
  expect(registry.find("example.com", "v1", "widgets")).toBe(stable);
  expect(registry.find("", "v1", "pods")).toBe(pods);
  expect(other.find("example.com", "v1", "widgets")).toBeUndefined();
  registry.setCustom("widgets.example.com", []);
  expect(registry.find("example.com", "v1", "widgets")).toBeUndefined();
});

test("Registry.findStored() finds the storage version of a resource, or the first that is served", () => {
  const registry = new Registry(builtinResources());
  expect(registry.findStored("autoscaling", "horizontalpodautoscalers")?.version).toBe("v2");
  registry.setCustom("widgets.example.com", [alpha, stable]);
  expect(registry.findStored("example.com", "widgets")).toBe(stable);
  registry.setCustom("widgets.example.com", [alpha]);
  expect(registry.findStored("example.com", "widgets")).toBe(alpha);
});

test("Registry.findKind() finds what the definitions have first, built-in or not", () => {
  const registry = new Registry(builtinResources());
  registry.setCustom("widgets.example.com", [alpha, { ...alpha, resource: "others" }, { ...pods, resource: "mypods" }]);
  for (const { group, version, kind } of registry.definitions) {
    const first = registry.definitions.find(
      (each) => each.group === group && each.version === version && each.kind === kind,
    );
    expect(registry.findKind(group, version, kind)).toBe(first);
  }
  expect(registry.findKind("example.com", "v2", "Pod")).toBeUndefined();
});
