import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { Candy, candy, Wrapper } from "../run/controller-world.fixture.ts";
import { assertOurs, keyOf, nameOf, placed, type Parent } from "./place-child.ts";

const stored = { uid: "uid-of-lolly", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const parent: Parent = {
  kind: Candy,
  object: { ...candy("mint"), metadata: { ...stored, name: "lolly", namespace: "default" } },
};
const Shelf: KindRef = { group: "example.com", version: "v1", kind: "Shelf", plural: "shelves", namespaced: false };
const shelf: KubeObject = { apiVersion: "example.com/v1", kind: "Shelf", metadata: { name: "top" } };
const shelved: Parent = { kind: Shelf, object: { ...shelf, metadata: { ...stored, name: "top" } } };
const wrapper = Wrapper({ name: "mint", data: {} });

const reference = (name: string, uid: string): object => ({
  ...{ apiVersion: "example.com/v1", kind: "Candy", name, uid },
  ...{ controller: true, blockOwnerDeletion: true },
});

test("a child comes into the namespace of its owner, which controls it and is not deleted before it", () => {
  expect(placed(Wrapper, wrapper, true, parent).metadata).toStrictEqual({
    name: "mint",
    namespace: "default",
    ownerReferences: [reference("lolly", "uid-of-lolly")],
  });
});

test("a copy of what was read has its owner once, and keeps other owners", () => {
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "another" };
  const ours = { apiVersion: "example.com/v1", kind: "Candy", name: "lolly", uid: "uid-of-lolly" };
  const copy = { ...wrapper, metadata: { ...wrapper.metadata, ownerReferences: [ours, other] } };
  expect(placed(Wrapper, copy, true, parent).metadata.ownerReferences).toEqual([
    other,
    reference("lolly", "uid-of-lolly"),
  ]);
  expect(placed(Wrapper, copy, false, parent).metadata.ownerReferences).toEqual([ours, other]);
});

test("what nobody owns stays in its own namespace, or in none, and gets no owner", () => {
  const elsewhere = { ...wrapper, metadata: { name: "mint", namespace: "elsewhere" } };
  expect(placed(Wrapper, elsewhere, false, parent).metadata).toStrictEqual(elsewhere.metadata);
  expect(placed(Shelf, shelf, false, parent).metadata).toStrictEqual({ name: "top" });
});

test('a child of an object without a namespace is refused that names none, instead of being looked for in "default"', () => {
  for (const isOwned of [true, false])
    expect(() => placed(Wrapper, wrapper, isOwned, shelved)).toThrow(
      'Cannot place a ConfigMap: Shelf "top" has no namespace; set metadata.namespace of the child',
    );
});

test("an object without a namespace may own objects of any namespace and of none", () => {
  const elsewhere = { ...wrapper, metadata: { name: "mint", namespace: "elsewhere" } };
  const owner = { ...reference("top", "uid-of-lolly"), kind: "Shelf" };
  expect(placed(Wrapper, elsewhere, true, shelved).metadata).toStrictEqual({
    ...{ name: "mint", namespace: "elsewhere", ownerReferences: [owner] },
  });
  expect(placed(Shelf, shelf, true, shelved).metadata).toStrictEqual({ name: "top", ownerReferences: [owner] });
});

test("what the garbage collector would take for an orphan is refused, with the way out", () => {
  const nameless = { ...wrapper, metadata: { namespace: "elsewhere" } };
  expect(() => placed(Wrapper, nameless, true, parent)).toThrow(
    'Cannot own ConfigMap "" by Candy "lolly": it is in namespace "elsewhere" and its owner in "default"; pass `owner: false`',
  );
  expect(() => placed(Shelf, shelf, true, parent)).toThrow(
    'Cannot own Shelf "top" by Candy "lolly": the owner of an object without a namespace must have none',
  );
});

test("an object is ours when we control it, and an error says whose it is otherwise", () => {
  const present = (...ownerReferences: readonly object[]): Stored<KubeObject> =>
    ({ ...wrapper, metadata: { ...stored, name: "mint", ownerReferences } }) as Stored<KubeObject>;
  assertOurs("apply", present(reference("lolly", "uid-of-lolly")), parent);
  expect(() => assertOurs("create", present(reference("lolly", "another")), parent)).toThrow(
    'Cannot create ConfigMap "mint": it exists already and it belongs to Candy "lolly" (another)',
  );
  const uncontrolled = { ...reference("lolly", "uid-of-lolly"), controller: false };
  expect(() => assertOurs("apply", present(uncontrolled), parent)).toThrow("it exists already and it has no owner");
});

test("a key has a namespace only where the object has one, and an object without a name has none", () => {
  expect(keyOf(parent.object)).toStrictEqual({ name: "lolly", namespace: "default" });
  expect(keyOf(shelf)).toStrictEqual({ name: "top" });
  expect(() => nameOf({ ...shelf, metadata: {} })).toThrow("Cannot apply Shelf: it has no metadata.name");
});
