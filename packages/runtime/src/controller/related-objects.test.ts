import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { candy, Candy, Wrapper } from "../run/controller-world.fixture.ts";
import { type RelatedReader, RelatedObjects } from "./related-objects.ts";

function stored<T extends KubeObject>(object: T, uid: string): Stored<T> {
  const set = {
    name: object.metadata.name ?? "",
    uid,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { ...object, metadata: { ...object.metadata, ...set } };
}

/** A cache that holds these candies. */
function reader(cluster: string | undefined, present: Map<string, Stored<KubeObject>>): RelatedReader {
  return {
    controller: {
      fieldManager: "by-hand",
      cluster,
      outdated: () => undefined,
      changesOutside: () => {},
      cannotReach: () => false,
    },
    // Only candies are asked for by name here.
    get: <T extends KubeObject>(_kind: KindRef<T>, name: string) => present.get(name) as Stored<T> | undefined,
    list: () => [],
  };
}

const named = (name: string) => {
  const object = candy("mint");
  return stored({ ...object, metadata: { ...object.metadata, name } }, `uid-${name}`);
};
const bySugar = { sugar: { names: ["sugar"] } };
const sugar = stored(Wrapper({ name: "sugar", namespace: "default", data: {} }), "s");

test("objects that come and go do not pile up although nothing that they depend on ever changes", () => {
  const related = new RelatedObjects(Candy, { sugar: Wrapper });
  const present = new Map<string, Stored<KubeObject>>();
  for (let i = 0; i < 10_000; i++) {
    const object = named(`c${i}`);
    present.clear();
    present.set(object.metadata.name, object);
    related.of(object, bySugar, reader(undefined, present));
  }
  expect(related.size).toBeLessThan(100);
});

test("objects that are there are kept, however many there are", () => {
  const related = new RelatedObjects(Candy, { sugar: Wrapper });
  const present = new Map<string, Stored<KubeObject>>();
  const cache = reader(undefined, present);
  for (let i = 0; i < 500; i++) {
    const object = named(`c${i}`);
    present.set(object.metadata.name, object);
    related.of(object, bySugar, cache);
  }
  const [watch] = related.watches();
  expect(watch?.wakes?.(sugar, cache).length).toBe(500);
});

test("a change in one cluster does not make an object of another cluster forgotten", () => {
  const related = new RelatedObjects(Candy, { sugar: Wrapper });
  const lolly = named("lolly");
  const east = reader("east", new Map([["lolly", lolly]]));
  const west = reader("west", new Map());
  related.of(lolly, bySugar, east);
  const [watch] = related.watches();
  expect(watch?.wakes?.(sugar, west)).toEqual([]);
  expect(watch?.wakes?.(sugar, east)).toEqual([{ name: "lolly", namespace: "default" }]);
});

test("nothing is kept of objects that depend on none, nor of those that do no longer", () => {
  const related = new RelatedObjects(Candy, { sugar: Wrapper });
  const lolly = named("lolly");
  const cache = reader(undefined, new Map([["lolly", lolly]]));
  related.of(lolly, {}, cache);
  expect(related.size).toBe(0);
  related.of(lolly, bySugar, cache);
  expect(related.size).toBe(1);
  related.of(lolly, {}, cache);
  expect(related.size).toBe(0);
});
