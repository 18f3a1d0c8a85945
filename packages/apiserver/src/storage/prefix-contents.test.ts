import type { UnstructuredObject } from "@setpoint/apimachinery";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { createMemoryStorage } from "./memory-storage.ts";
import type { Storage, StorageContents } from "./storage.ts";

const object = (name: string): UnstructuredObject => ({ apiVersion: "v1", kind: "Thing", metadata: { name } });
const contentsOf = (...names: readonly string[]): StorageContents => ({
  revision: 7,
  entries: names.map((path) => ({ prefix: "/things", path, object: object(path) })),
});
const open = (contents: StorageContents): Storage =>
  createMemoryStorage({ clock: new VirtualClock(seededRandom(1)), log: silentLogger, contents });
const namesIn = (storage: Storage, pathPrefix = ""): readonly (string | undefined)[] =>
  storage.list("/things", { pathPrefix }).objects.map(({ metadata }) => metadata.name);
const key = (path: string) => ({ prefix: "/things", path });

test("contents are listed in the order of their paths, and nobody can change them", () => {
  const contents = contentsOf("b/2", "a/1", "b/1");
  const storage = open(contents);
  expect(namesIn(storage)).toEqual(["a/1", "b/1", "b/2"]);
  expect(namesIn(storage, "b/")).toEqual(["b/1", "b/2"]);
  expect(storage.revision).toBe(7);
  expect(Object.isFrozen(storage.get(key("a/1")))).toBe(true);
});

test("storages that start from the same contents do not share what is written to one", async () => {
  const contents = contentsOf("a", "b", "d");
  const [one, other] = [open(contents), open(contents)];
  await one.write(key("c"), () => object("c"));
  await one.write(key("a"), () => "delete");
  await other.write(key("e"), () => object("e"));
  expect(namesIn(one)).toEqual(["b", "c", "d"]);
  expect(namesIn(other)).toEqual(["a", "b", "d", "e"]);
  expect(one.get(key("a"))).toBeUndefined();
  expect(other.get(key("a"))).toBe(open(contents).get(key("a")));
  expect(namesIn(open(contents))).toEqual(["a", "b", "d"]);
});
