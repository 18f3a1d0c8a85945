import { expect, test } from "vitest";
import { conditionsOf } from "./namespace-conditions.ts";

const nothing = { remaining: [], refusals: [], finalizers: new Map<string, number>() };

function statuses(content: Parameters<typeof conditionsOf>[0]): Readonly<Record<string, string>> {
  return Object.fromEntries(conditionsOf(content).map(({ type, status }) => [type, status]));
}

const allFine = {
  NamespaceDeletionDiscoveryFailure: "False",
  NamespaceDeletionGroupVersionParsingFailure: "False",
  NamespaceDeletionContentFailure: "False",
  NamespaceContentRemaining: "False",
  NamespaceFinalizersRemaining: "False",
};

test("a namespace without content has all conditions, and none of them is true", () => {
  expect(statuses(nothing)).toEqual(allFine);
});

test.each([
  ["content", { remaining: ["pods. has 1 resource instances"] }, "NamespaceContentRemaining"],
  ["a refused deletion", { refusals: ["no"] }, "NamespaceDeletionContentFailure"],
  ["a finalizer", { finalizers: new Map([["a.example/b", 2]]) }, "NamespaceFinalizersRemaining"],
])("%s makes its own condition true", (_what, content, type) => {
  expect(statuses({ ...nothing, ...content })).toEqual({ ...allFine, [type]: "True" });
});

test("the message counts the objects of each finalizer", () => {
  const finalizers = new Map([
    ["b.example/x", 1],
    ["a.example/x", 2],
  ]);
  expect(conditionsOf({ ...nothing, finalizers }).at(-1)?.message).toBe(
    "Some content in the namespace has finalizers remaining: a.example/x in 2 resource instances, b.example/x in 1 resource instances",
  );
});
