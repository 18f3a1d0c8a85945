import { type UnstructuredObject } from "@setpoint/apimachinery";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, onTestFinished, test } from "vitest";
import { Registry } from "../registry.ts";
import { createMemoryStorage } from "../../storage/memory-storage.ts";
import { cleanupFinalizer, crdPrefix } from "./crd-object.ts";
import { crdStrategy } from "./crd-strategy.ts";
import { CustomResources } from "./custom-resources.ts";
import recorded from "./fixtures/widgets.json" with { type: "json" };

// The file holds the manifest that a real server was given.
const widgets = recorded.manifest as unknown as UnstructuredObject;

function setUp() {
  const clock = new VirtualClock(seededRandom(1));
  const storage = createMemoryStorage({ clock, log: silentLogger });
  const registry = new Registry([]);
  const replaced: string[] = [];
  const onReplaced = ({ resource }: { resource: string }): unknown => replaced.push(resource);
  const custom = new CustomResources({ storage, registry, clock, log: silentLogger, onReplaced });
  custom.start();
  onTestFinished(() => custom.stop());
  const put = (object: UnstructuredObject): unknown =>
    storage.write({ prefix: crdPrefix, path: object.metadata.name ?? "" }, () => object);
  const stored = (name: string) => storage.get({ prefix: crdPrefix, path: name });
  return { clock, storage, registry, replaced, put, stored };
}

/** As the registry would store it. */
function defaulted(manifest: UnstructuredObject): UnstructuredObject {
  const object = structuredClone(manifest);
  crdStrategy.setDefaults?.(object);
  return { ...object, status: { storedVersions: ["v1"] } };
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

const conditionsOf = (object: UnstructuredObject | undefined): Record<string, string> => {
  const status = object?.["status"] as { conditions?: { type: string; status: string; reason: string }[] } | undefined;
  return Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, `${each.status} ${each.reason}`]));
};

test("a CRD is served as soon as it is stored, in every served version", () => {
  const { registry, put } = setUp();
  put(defaulted(widgets));
  const served = registry.definitions.map((each) => `${each.group}/${each.version}/${each.resource}`);
  expect(served).toEqual(["example.com/v1/widgets", "example.com/v1alpha1/widgets"]);
  const v1 = registry.find("example.com", "v1", "widgets");
  expect(v1?.subresources.map((each) => each.name)).toEqual(["status", "scale"]);
  expect(v1?.columns.map((each) => each.name)).toEqual(["Replicas", "Age"]);
  expect(Object.keys(v1?.selectableFields ?? {})).toEqual(["spec.color"]);
  const alpha = registry.find("example.com", "v1alpha1", "widgets");
  expect(alpha?.deprecationWarning).toBe("example.com/v1alpha1 Widget is deprecated; use example.com/v1 Widget");
});

test("the status of a CRD becomes that of a real server, and is written once", async () => {
  const { storage, put, stored } = setUp();
  put(defaulted(widgets));
  await settle();
  // The shape is that of the recorded answer, or the expectations fail.
  const status = stored("widgets.example.com")?.["status"] as typeof recorded.stored.status | undefined;
  const { conditions = [], acceptedNames, storedVersions } = status ?? {};
  expect(acceptedNames).toEqual(recorded.stored.status.acceptedNames);
  expect(storedVersions).toEqual(["v1"]);
  expect(conditions.map((each) => ({ ...each, lastTransitionTime: "<time>" }))).toEqual(
    recorded.stored.status.conditions,
  );
  const { revision } = storage;
  await settle();
  expect(storage.revision).toBe(revision);
});

test("a CRD whose names are taken is not served until they become free", async () => {
  const { registry, storage, put, stored } = setUp();
  put(defaulted(widgets));
  await settle();
  const spec = widgets["spec"] as { names: object };
  const rival = {
    ...widgets,
    metadata: { name: "gizmos.example.com" },
    spec: { ...spec, names: { ...spec.names, plural: "gizmos" } },
  };
  put(defaulted(rival));
  await settle();
  expect(conditionsOf(stored("gizmos.example.com"))).toEqual({
    NamesAccepted: "False ListKindConflict",
    Established: "False NotAccepted",
  });
  expect(registry.find("example.com", "v1", "gizmos")).toBeUndefined();
  await storage.write({ prefix: crdPrefix, path: "widgets.example.com" }, () => "delete");
  await settle();
  expect(registry.find("example.com", "v1", "gizmos")).toBeDefined();
  expect(registry.find("example.com", "v1", "widgets")).toBeUndefined();
});

test("only a change of spec ends the watches of a resource", async () => {
  const { replaced, put, stored } = setUp();
  put(defaulted(widgets));
  await settle();
  expect(replaced).toEqual([]);
  const object = stored("widgets.example.com");
  if (object === undefined) throw new Error("the CRD is missing");
  put({ ...object, metadata: { ...object.metadata, labels: { a: "b" } } });
  expect(replaced).toEqual([]);
  const spec = object["spec"] as { names: object };
  put({ ...object, spec: { ...spec, names: { ...spec.names, categories: [] } } });
  expect(replaced).toEqual(["widgets"]);
});

test("a deleted CRD refuses creates, waits for instances with finalizers, and goes after the last one", async () => {
  const { storage, registry, put, stored } = setUp();
  put(defaulted(widgets));
  await settle();
  const instance = (name: string, finalizers: string[]): UnstructuredObject => ({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name, namespace: "default", ...(finalizers.length === 0 ? {} : { finalizers }) },
  });
  const key = (name: string) => ({ prefix: "/example.com/widgets", path: `default/${name}` });
  await storage.write(key("free"), () => instance("free", []));
  await storage.write(key("held"), () => instance("held", ["example.com/hold"]));
  const crd = structuredClone(stored("widgets.example.com") as object) as UnstructuredObject;
  Object.assign(crd.metadata, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  crdStrategy.onMarkedDeleted?.(crd);
  put(crd);
  await settle();
  expect(storage.get(key("free"))).toBeUndefined();
  expect(storage.get(key("held"))?.metadata.deletionTimestamp).toBe("2026-01-01T00:00:00Z");
  expect(stored("widgets.example.com")?.metadata.finalizers).toEqual([cleanupFinalizer]);
  expect(conditionsOf(stored("widgets.example.com"))["Terminating"]).toBe("True InstanceDeletionInProgress");
  const strategy = registry.find("example.com", "v1", "widgets")?.strategy;
  expect(() => strategy?.prepareForCreate?.(instance("new", []), {} as never)).toThrow(
    "create not allowed while custom resource definition is terminating",
  );
  await storage.write(key("held"), () => "delete");
  await settle();
  expect(stored("widgets.example.com")).toBeUndefined();
  expect(registry.definitions).toEqual([]);
});
