import type { KubeObject } from "@setpoint/apimachinery";
import { ObjectScan, type Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { controllerOf, ownerIndex, Store, storeKey, type StoreOptions } from "./store.ts";

const type = { apiVersion: "v1", kind: "Box" };
const encoder = new TextEncoder();

interface BoxFields {
  readonly revision?: number;
  readonly owner?: string;
  readonly colours?: readonly string[];
}

function box(key: string, { revision = 1, owner, colours = [] }: BoxFields = {}) {
  const [name = "", namespace] = key.split("/").toReversed();
  const ownerReferences = [
    { apiVersion: "v1", kind: "Chest", name: "other", uid: "uid-of-other", controller: false },
    { apiVersion: "v1", kind: "Chest", name: "chest", uid: owner ?? "", controller: true },
  ];
  return {
    ...type,
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid: `uid-of-${name}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      resourceVersion: String(revision),
      ...(owner === undefined ? {} : { ownerReferences }),
    },
    colours,
  };
}

type Show = (store: Store, key: string, fields?: BoxFields) => void;

const showObject: Show = (store, key, fields) => store.set(key, box(key, fields));
const showBytes: Show = (store, key, fields) => {
  const { apiVersion: _, kind: __, ...item } = box(key, fields);
  const scan = new ObjectScan();
  const bytes = encoder.encode(JSON.stringify(item));
  expect(scan.scan(bytes)).toBe(true);
  store.setStaged(key, store.stage(bytes, scan));
};

/** A store whose objects come in one of the two ways. */
const ways: readonly (readonly [string, Show])[] = [
  ["objects", showObject],
  ["bytes", showBytes],
];
const createStore = (options: StoreOptions = {}): Store => new Store({ type, ...options });
const coloursOf = (object: KubeObject): readonly string[] => (object as { colours?: readonly string[] }).colours ?? [];
const names = (objects: Iterable<Stored<KubeObject>>): readonly string[] =>
  [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);

test("keys have a namespace where the object has one", () => {
  expect(storeKey({ namespace: "a", name: "x" })).toBe("a/x");
  expect(storeKey({ name: "x" })).toBe("x");
  expect([storeKey({}), storeKey({ namespace: "a" })]).toEqual(["", "a/"]);
});

test("the owner of an object is the reference that controls it, or nobody", () => {
  expect(controllerOf(box("a/x", { owner: "uid-1" }))?.uid).toBe("uid-1");
  expect(controllerOf(box("a/x"))).toBeUndefined();
});

test.each(ways)("what came as %s is read whole, by key, and is gone when it is deleted", (_, show) => {
  const store = createStore();
  show(store, "a/x", { revision: 4, colours: ["red"] });
  expect([store.has("a/x"), store.has("a/y"), store.size]).toEqual([true, false, 1]);
  expect(store.get("a/x")).toEqual(box("a/x", { revision: 4, colours: ["red"] }));
  expect(store.versionOf("a/x")).toMatchObject({ uid: "uid-of-x", resourceVersion: "4" });
  expect({ ...store.lazy("a/x") }).toEqual(box("a/x", { revision: 4, colours: ["red"] }));
  expect([store.get("a/y"), store.versionOf("a/y"), store.lazy("a/y")]).toEqual([undefined, undefined, undefined]);
  store.delete("a/x");
  store.delete("a/x");
  expect([store.has("a/x"), store.size, store.bytes, [...store.keys()]]).toEqual([false, 0, 0, []]);
});

test.each(ways)("a later state of what came as %s replaces the earlier one everywhere", (_, show) => {
  const store = createStore();
  store.addIndex("colour", coloursOf);
  show(store, "a/x", { revision: 1, owner: "uid-1", colours: ["red", "blue"] });
  expect(names(store.inNamespace("a"))).toEqual(["x@1"]);
  show(store, "a/x", { revision: 2, owner: "uid-2", colours: ["blue", "green"] });
  expect(names(store.values())).toEqual(["x@2"]);
  expect(names([...store.lazyEntries()].map(([, object]) => object))).toEqual(["x@2"]);
  expect(names(store.inNamespace("a"))).toEqual(["x@2"]);
  const found = (index: string, value: string) => names(store.byIndex(index, value));
  expect([found("colour", "red"), found("colour", "blue"), found("colour", "green")]).toEqual([[], ["x@2"], ["x@2"]]);
  expect([found(ownerIndex, "uid-1"), found(ownerIndex, "uid-2")]).toEqual([[], ["x@2"]]);
  store.delete("a/x");
  expect([found("colour", "blue"), found(ownerIndex, "uid-2"), store.inNamespace("a")]).toEqual([[], [], []]);
});

test.each(ways)("of those that came as %s all with a value are found by it", (_, show) => {
  const store = createStore();
  show(store, "a/before", { owner: "uid-1", colours: ["red"] });
  store.addIndex("colour", coloursOf);
  store.addIndex("colour", () => ["never asked"]);
  for (const key of ["a/x", "b/x", "c/x"]) show(store, key, { owner: "uid-1", colours: ["red"] });
  show(store, "a/alone", { colours: ["red"] });
  expect(names(store.byIndex("colour", "red"))).toEqual(["before@1", "x@1", "x@1", "x@1", "alone@1"]);
  expect(store.byIndex(ownerIndex, "uid-1")).toHaveLength(4);
  expect([store.byIndex("colour", "never asked"), store.byIndex("size", "red")]).toEqual([[], []]);
  for (const key of ["a/x", "b/x", "c/x"]) store.delete(key);
  expect(store.byIndex(ownerIndex, "uid-1")).toHaveLength(1);
  expect(names(store.byIndex("colour", "red"))).toEqual(["before@1", "alone@1"]);
});

test.each(ways)("of those that came as %s only the namespace's are given, also of objects without one", (_, show) => {
  const store = createStore();
  show(store, "a/x");
  show(store, "node");
  expect(names(store.inNamespace("a"))).toEqual(["x@1"]);
  for (const key of ["a/y", "b/x", "node-2"]) show(store, key);
  expect(names(store.inNamespace("a"))).toEqual(["x@1", "y@1"]);
  expect(names(store.inNamespace("b"))).toEqual(["x@1"]);
  expect(names(store.inNamespace(""))).toEqual(["node@1", "node-2@1"]);
  expect(store.inNamespace("c")).toEqual([]);
});

test.each(ways)("an owner finds those that came as %s for as long as it owns them", (_, show) => {
  const store = createStore();
  show(store, "a/x", { owner: "uid-1" });
  show(store, "a/x", { revision: 2, owner: "uid-2" });
  show(store, "a/y", { owner: "uid-1" });
  show(store, "a/y", { revision: 2 });
  expect([names(store.byIndex(ownerIndex, "uid-1")), names(store.byIndex(ownerIndex, "uid-2"))]).toEqual([[], ["x@2"]]);
});

test.each(ways)("an index finds those that came as %s without an owner by what they are now", (_, show) => {
  const store = createStore();
  store.addIndex("colour", coloursOf);
  show(store, "a/x", { colours: ["red"] });
  show(store, "a/x", { revision: 2, colours: ["blue"] });
  expect([store.byIndex("colour", "red"), names(store.byIndex("colour", "blue"))]).toEqual([[], ["x@2"]]);
});

test.each(ways)("of those that came as %s the wanted are selected, of one namespace or all", (_, show) => {
  const store = createStore();
  for (const key of ["a/x", "a/y", "b/x"]) show(store, key);
  const isX = ({ metadata }: KubeObject): boolean => metadata.name === "x";
  expect(names(store.select(isX, "a"))).toEqual(["x@1"]);
  expect(names(store.select(isX))).toEqual(["x@1", "x@1"]);
  expect(store.select(isX, "a")).toEqual([box("a/x")]);
  expect(store.select(isX, "c")).toEqual([]);
});

test("objects that are decoded are frozen to their depth, unless that is not wanted", () => {
  const store = createStore();
  showBytes(store, "a/x", { colours: ["red"] });
  expect(Object.isFrozen(coloursOf(store.get("a/x") ?? box("")))).toBe(true);
  expect(Object.isFrozen(store.lazy("a/x")?.metadata)).toBe(true);
  const thawed = createStore({ freeze: false });
  showBytes(thawed, "a/x", { colours: ["red"] });
  expect(Object.isFrozen(thawed.get("a/x"))).toBe(false);
});

test("an object that is read twice is decoded once, and its earlier state is not taken for it", () => {
  const store = createStore();
  showBytes(store, "a/x");
  const first = store.get("a/x");
  expect(store.get("a/x")).toBe(first);
  expect([...store.values()][0]).toBe(first);
  expect(store.lazy("a/x")).toBe(first);
  showBytes(store, "a/x", { revision: 2 });
  expect(store.get("a/x")?.metadata.resourceVersion).toBe("2");
  store.delete("a/x");
  showBytes(store, "a/y");
  expect(store.get("a/y")?.metadata.name).toBe("y");
});

test("going through all objects keeps none of them decoded", () => {
  const store = createStore();
  showBytes(store, "a/x");
  const [seen] = [...store.values()];
  const [selected] = store.select(() => true);
  expect(store.get("a/x")).not.toBe(seen);
  expect(store.get("a/x")).not.toBe(selected);
});

test("bytes are those of the objects that are there, without their managed fields", () => {
  const store = createStore();
  showBytes(store, "a/x");
  const { bytes } = store;
  expect(bytes).toBeGreaterThan(50);
  expect(store.keptBytes).toBeGreaterThanOrEqual(bytes);
  showBytes(store, "a/y");
  expect(store.bytes).toBe(2 * bytes);
  showBytes(store, "a/y");
  expect(store.bytes).toBe(2 * bytes);
});

test("an object for which an index function throws is found by the other indexes", () => {
  const store = createStore();
  store.addIndex("broken", () => {
    throw new Error("an author's mistake");
  });
  store.addIndex("colour", coloursOf);
  showBytes(store, "a/x", { colours: ["red"] });
  expect([store.byIndex("broken", "red"), names(store.byIndex("colour", "red"))]).toEqual([[], ["x@1"]]);
});
