import { expect, test } from "vitest";
import { start } from "./informer.fixture.ts";
import type { InformerOptions } from "./informer.ts";
import { bookmark, box, complete, error, frame, refused } from "./scripted-server.fixture.ts";

test("nothing is shown of a list before it is complete", async () => {
  const { host, informer, log, stop } = start([
    [frame("ADDED", box("a", 3)), "cut"],
    [frame("ADDED", box("a", 3)), frame("ADDED", box("b", 4)), complete(5)],
  ]);
  await host.clock.settle();
  expect(informer.isSynced).toBe(false);
  expect(log).toEqual([]);
  await host.clock.run(2_000);
  expect(informer.isSynced).toBe(true);
  expect(log).toEqual(["add a@3", "add b@4"]);
  await stop();
});

test("a cut stream resumes where it ended", async () => {
  const { host, log, ways, stop } = start([
    [frame("ADDED", box("a", 3)), complete(5), frame("MODIFIED", box("a", 7)), bookmark(9), "cut"],
    [frame("DELETED", box("a", 10))],
  ]);
  await host.clock.run(2_000);
  expect(ways()).toEqual(["watchList", "watch@9"]);
  expect(log).toEqual(["add a@3", "3 to a@7", "delete a@7"]);
  await stop();
});

test("a compacted revision leads to a new list, which tells what was missed", async () => {
  const expired = error(410, "Expired");
  const { host, log, stop } = start([
    [frame("ADDED", box("a", 3)), frame("ADDED", box("b", 4)), complete(5), "cut"],
    [expired],
    [frame("ADDED", box("b", 12)), frame("ADDED", box("c", 13)), complete(20)],
  ]);
  await host.clock.run(10_000);
  expect(log).toEqual(["add a@3", "add b@4", "4 to b@12", "add c@13", "delete a@3"]);
  await stop();
});

test("a repeated or older event changes nothing", async () => {
  const { host, log, stop } = start([
    [
      complete(5),
      frame("ADDED", box("a", 8)),
      frame("DELETED", box("a", 9)),
      frame("ADDED", box("a", 8)),
      frame("ADDED", box("b", 10)),
      frame("MODIFIED", box("b", 10)),
    ],
  ]);
  await host.clock.settle();
  expect(log).toEqual(["add a@8", "delete a@8", "add b@10"]);
  await stop();
});

test("a namesake with another UID is another object", async () => {
  const { host, log, stop } = start([
    [frame("ADDED", box("a", 3, { uid: "old" })), complete(5), "cut"],
    [frame("MODIFIED", box("a", 8, { uid: "new" }))],
  ]);
  await host.clock.run(2_000);
  expect(log).toEqual(["add a@3", "delete a@3", "add a@8"]);
  await stop();
});

test("a server without WatchList is listed in pages", async () => {
  const { host, log, requests, ways, stop } = start([
    refused(422, "Invalid"),
    { list: [box("a", 3)], at: 9, more: "token" },
    { list: [box("b", 3)], at: 9 },
  ]);
  await host.clock.run(2_000);
  expect(log).toEqual(["add a@3", "add b@3"]);
  expect(ways()).toEqual(["watchList", "page", "page", "watch@9"]);
  expect(requests[2]?.query?.["continue"]).toBe("token");
  await stop();
});

test("a silent stream is noticed, reopened and finally relisted", async () => {
  const { host, informer, log, requests, ways, stop } = start([
    [frame("ADDED", box("a", 3)), complete(5)],
    [],
    [complete(9)],
  ]);
  await host.clock.run(140_000);
  expect(requests.length).toBe(1);
  await host.clock.run(160_000);
  expect(informer.silentForMs()).toBe(300_000);
  await host.clock.run(10_000);
  expect(ways()).toEqual(["watchList", "watch@5", "watchList@5"]);
  expect(log).toEqual(["add a@3", "delete a@3"]);
  await stop();
});

test("a server that stays silent turns the informer stale", async () => {
  const { host, informer, stop } = start([[complete(5)]]);
  await host.clock.run(390_000);
  expect(informer.isFresh).toBe(true);
  await host.clock.run(20_000);
  expect(informer.isFresh).toBe(false);
  await stop();
});

test("a server is fresh until it has been silent for 400 s, and not before it has said anything", async () => {
  const { host, informer, stop } = start([[complete(5)]]);
  expect(informer.isFresh).toBe(false);
  await host.clock.run(399_999);
  expect(informer.isFresh).toBe(true);
  await host.clock.run(1);
  expect(informer.isFresh).toBe(false);
  await stop();
});

test.each([
  ["frozen, so that who changes one hears of it", {}, true],
  ["left as they are where that is asked for", { freeze: false }, false],
])("objects are %s", async (_, options, isFrozen) => {
  const { host, informer, stop } = start([[frame("ADDED", box("a", 3)), complete(5)]], options);
  await host.clock.settle();
  const object = informer.store.get("default/a");
  expect([Object.isFrozen(object), Object.isFrozen(object?.metadata)]).toEqual([isFrozen, isFrozen]);
  await stop();
});

test.each<[InformerOptions, string | undefined, boolean]>([
  [{}, undefined, false],
  [{ namespace: "default" }, "default", false],
  [{ labelSelector: "app=web" }, undefined, true],
  [{ fieldSelector: "metadata.name=a" }, undefined, true],
])("an informer says which part of its kind it holds: %j", async (options, namespace, isSelective) => {
  const { informer, stop } = start([], options);
  expect([informer.namespace, informer.isSelective]).toEqual([namespace, isSelective]);
  await stop();
});

test("a late `onAdd` is called for the existing objects, and a late `onDelete` is not", async () => {
  const { host, informer, stop } = start([[frame("ADDED", box("a", 3)), complete(5), frame("DELETED", box("a", 6))]]);
  await host.clock.settle();
  const told: string[] = [];
  const metadata = { ...box("b", 7).metadata, creationTimestamp: "" };
  informer.store.set("default/b", { apiVersion: "v1", kind: "Box", metadata });
  informer.addHandler({ onDelete: () => void told.push("never") });
  informer.addHandler({ onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`) });
  expect(told).toEqual(["add b"]);
  await stop();
});

test("a cache has seen every revision up to its newest, and none before its first list", async () => {
  const { host, informer, stop } = start([[complete(5)]]);
  expect(informer.hasSeen("0")).toBe(false);
  await host.clock.settle();
  expect(["4", "5", "6"].map((revision) => informer.hasSeen(revision))).toEqual([true, true, false]);
  await stop();
});

test("a handler's error at a deletion is logged once, and the other handlers get the deletion", async () => {
  const deleted = frame("DELETED", box("a", 6));
  const { host, informer, log, stop } = start([
    [frame("ADDED", box("a", 3)), complete(5), deleted, frame("ADDED", box("a", 7)), frame("DELETED", box("a", 8))],
  ]);
  informer.addHandler({
    onDelete() {
      throw new Error("an author's mistake");
    },
  });
  const later: string[] = [];
  informer.addHandler({ onDelete: ({ metadata }) => void later.push(metadata.name) });
  await host.clock.settle();
  expect(log).toEqual(["add a@3", "delete a@3", "add a@7", "delete a@7"]);
  expect(later).toEqual(["a", "a"]);
  const errors = host.lines.filter(({ level }) => level === "error");
  expect(errors.map(({ message }) => message)).toEqual([
    "Informer event handler threw; further errors of it are not logged",
  ]);
  await stop();
});

test("a waiter for a cache gets the end of its first list, and then each change until it stops", async () => {
  const { host, informer, stop } = start([
    [frame("ADDED", box("a", 3)), "cut"],
    [complete(5), frame("ADDED", box("b", 6)), bookmark(7)],
  ]);
  let isSynced = false;
  void informer.synced.then(() => (isSynced = true));
  const heard: boolean[] = [];
  const end = informer.onProgress(() => {
    heard.push(informer.hasSeen("6"));
    if (heard.length === 2) end();
  });
  await host.clock.settle();
  expect([isSynced, heard]).toEqual([false, []]);
  await host.clock.run(2_000);
  expect([isSynced, heard]).toEqual([true, [false, true]]);
  await stop();
});

test("managed fields, which are half of an object and which nobody reads, are not kept", async () => {
  const { host, informer, stop } = start([[frame("ADDED", box("a", 3)), complete(5)]]);
  expect(box("a", 3).metadata).toHaveProperty("managedFields");
  await host.clock.settle();
  const kept = { name: "a", namespace: "default", uid: "a", resourceVersion: "3" };
  expect(informer.store.get("default/a")).toEqual({ apiVersion: "v1", kind: "Box", metadata: kept, data: { size: 1 } });
  await stop();
});

test("handlers get the key of each added or changed object", async () => {
  const { host, informer, stop } = start([[complete(5), frame("ADDED", box("a", 8)), frame("MODIFIED", box("a", 9))]]);
  const keys: string[] = [];
  informer.addHandler({
    onAdd: (_, key) => void keys.push(`add ${key}`),
    onUpdate: (_, __, key) => void keys.push(`update ${key}`),
  });
  await host.clock.settle();
  const key = [...informer.store.keys()].join();
  expect(keys).toEqual([`add ${key}`, `update ${key}`]);
  await stop();
});
