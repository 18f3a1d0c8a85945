import { expect, test } from "vitest";
import { findCondition, isConditionTrue, setCondition } from "./conditions.ts";
import { controllerOf, isControlledBy, isOwnedBy, ownerReferenceTo } from "./owner-references.ts";

const ready = { type: "Ready", status: "True", reason: "Up", message: "All members are up." } as const;

test("a condition's transition time moves only with its status", () => {
  const first = setCondition(undefined, ready, "t1", 1);
  const second = setCondition(first, { ...ready, reason: "StillUp" }, "t2", 2);
  const third = setCondition(second, { ...ready, status: "False" }, "t3", 2);
  expect(findCondition(first, "Ready")).toEqual({ ...ready, observedGeneration: 1, lastTransitionTime: "t1" });
  expect(findCondition(second, "Ready")?.lastTransitionTime).toBe("t1");
  expect(findCondition(third, "Ready")?.lastTransitionTime).toBe("t3");
  expect([isConditionTrue(second, "Ready"), isConditionTrue(third, "Ready")]).toEqual([true, false]);
});

test("setting the same condition again returns the same list", () => {
  const list = setCondition([], ready, "t1", 1);
  expect(setCondition(list, ready, "t2", 1)).toBe(list);
});

test("an object knows its owners and its controller", () => {
  const owner = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", uid: "u1" } };
  const reference = ownerReferenceTo(owner);
  expect(reference).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    name: "a",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  });
  const owned = { metadata: { ownerReferences: [{ ...reference, uid: "u0", controller: false }, reference] } };
  expect(controllerOf(owned)).toBe(reference);
  expect([isOwnedBy(owned, "u0"), isControlledBy(owned, "u0"), isControlledBy(owned, "u1")]).toEqual([
    true,
    false,
    true,
  ]);
});

test("an owner that is not stored cannot be referred to", () => {
  expect(() => ownerReferenceTo({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } })).toThrow(
    'Cannot refer to Pod "a" as owner',
  );
});
