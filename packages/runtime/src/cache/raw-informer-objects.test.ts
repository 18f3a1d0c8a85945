import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { startRaw } from "./informer.fixture.ts";
import { box, frame } from "./scripted-server.fixture.ts";

test("what is read is the whole object, with its type, without managed fields, and frozen", async () => {
  const { host, informer, stop } = startRaw([{ list: [box("a", 3)], at: 9 }]);
  await host.clock.settle();
  const object = informer.store.get("default/a");
  expect(object).toEqual({
    apiVersion: "v1",
    kind: "Box",
    metadata: { name: "a", namespace: "default", uid: "a", resourceVersion: "3" },
    data: { size: 1 },
  });
  expect(Object.isFrozen(object?.metadata)).toBe(true);
  expect([...informer.store.values()]).toEqual([object]);
  await stop();
});

test("a transform says what is kept", async () => {
  const { host, informer, stop } = startRaw([{ list: [box("a", 3)], at: 9 }, [frame("MODIFIED", box("a", 10))]], {
    transform: ({ apiVersion, kind, metadata }) => ({
      ...{ apiVersion, kind },
      metadata: { labels: { kept: "in part" }, ...metadata },
    }),
  });
  await host.clock.settle();
  const object = informer.store.get("default/a");
  expect(object?.metadata.resourceVersion).toBe("10");
  expect(object).not.toHaveProperty("data");
  expect(informer.store.versionOf("default/a")).toEqual({ uid: "a", resourceVersion: "10" });
  await stop();
});

test("a cache of metadata alone holds objects of that type", async () => {
  const { host, informer, stop } = startRaw([{ list: [box("a", 3)], at: 9 }], { metadataOnly: true });
  await host.clock.settle();
  expect(informer.store.get("default/a")).toMatchObject({
    apiVersion: "meta.k8s.io/v1",
    kind: "PartialObjectMetadata",
  });
  await stop();
});

test("a list that shows an older namesake of what is there changes nothing and takes no memory", async () => {
  const { host, informer, log, stop } = startRaw([
    { list: [box("a", 8)], at: 9 },
    [],
    { list: [box("a", 3, { uid: "x" })], at: 12 },
  ]);
  await host.clock.run(10_000);
  const { bytes } = informer.store;
  informer.refresh();
  await host.clock.run(1_000);
  expect([log, informer.store.bytes - bytes, informer.hasSeen("12")]).toEqual([["add a@8"], 0, true]);
  await stop();
});

test("objects are found by owner and by an author's index, as they are now", async () => {
  const ownedBy = (uid: string) => ({
    ownerReferences: [{ apiVersion: "v1", kind: "Shelf", name: uid, uid, controller: true }],
    labels: { color: uid },
  });
  const { host, informer, stop } = startRaw([
    { list: [box("a", 3, ownedBy("red")), box("b", 4, ownedBy("red")), box("c", 5)], at: 9 },
    [frame("MODIFIED", box("a", 10, ownedBy("blue"))), frame("DELETED", box("b", 11))],
  ]);
  informer.store.addIndex("color", ({ metadata }) => Object.values(metadata.labels ?? {}));
  await host.clock.settle();
  const names = (index: string, value: string): string[] =>
    informer.store.byIndex(index, value).map(({ metadata }) => metadata.name);
  for (const index of ["setpoint.dev/owner", "color"])
    expect([names(index, "red"), names(index, "blue")]).toEqual([[], ["a"]]);
  expect(informer.store.inNamespace("default").length).toBe(2);
  const blue = informer.store.select(({ metadata }) => metadata.labels?.["color"] === "blue", "default");
  expect(blue.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  await stop();
});

test("a handler may keep the old state and read it later", async () => {
  const olds: Stored<KubeObject>[] = [];
  const { host, informer, stop } = startRaw([{ list: [box("a", 3)], at: 9 }, [frame("MODIFIED", box("a", 10))]]);
  informer.addHandler({ onUpdate: (old) => void olds.push(old) });
  await host.clock.settle();
  expect(olds[0]).toEqual({
    ...box("a", 3),
    apiVersion: "v1",
    kind: "Box",
    metadata: { ...box("a", 3).metadata, managedFields: undefined },
  });
  expect({ ...olds[0] }).toHaveProperty("data");
  expect(() => Object.assign(olds[0] ?? {}, { data: {} })).toThrow(TypeError);
  await stop();
});

test("handlers and index functions that throw lose nobody an event, and every key keeps its own object", async () => {
  const { host, informer, log, ways, stop } = startRaw([
    { list: [box("a", 3), box("b", 4)], at: 9 },
    [frame("MODIFIED", box("a", 10)), frame("DELETED", box("b", 11)), frame("ADDED", box("c", 12))],
  ]);
  const broken = (): never => {
    throw new Error("an author's mistake");
  };
  informer.addHandler({ onAdd: broken, onUpdate: broken, onDelete: broken });
  const told: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`),
    onUpdate: (_, { metadata }) => void told.push(`update ${metadata.name}`),
    onDelete: ({ metadata }) => void told.push(`delete ${metadata.name}`),
  });
  informer.store.addIndex("broken", broken);
  await host.clock.settle();
  // One list and one stream: nothing broke.
  expect(ways()).toEqual(["list", "watch@9"]);
  expect(log).toEqual(["add a@3", "add b@4", "3 to a@10", "delete b@4", "add c@12"]);
  expect(told).toEqual(["add a", "add b", "update a", "delete b", "add c"]);
  for (const name of ["a", "c"]) expect(informer.store.get(`default/${name}`)?.metadata.name).toBe(name);
  const errors = host.lines.filter(({ level }) => level === "error");
  expect(errors.map(({ message, fields }) => [message, fields["resource"], fields["object"]])).toEqual([
    ["User function threw; further errors of it are not logged", "boxes", "default/a"],
    ["Informer event handler threw; further errors of it are not logged", "boxes", "default/a"],
  ]);
  await stop();
});
