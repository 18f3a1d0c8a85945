import { fieldsLeaf } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { RecentTree, type TreeParts } from "./recent-tree.ts";

const a: TreeParts = ["f:a", fieldsLeaf];
const b: TreeParts = ["f:b", fieldsLeaf];
const member: TreeParts = [".", fieldsLeaf];

test("the same parts make the very same tree, which nobody can change", () => {
  const trees = new RecentTree();
  const tree = trees.of([...a, ...b]);
  expect(trees.of([...a, ...b])).toBe(tree);
  expect(JSON.stringify(tree)).toBe('{"f:a":{},"f:b":{}}');
  expect(Object.isFrozen(tree)).toBe(true);
});

test("other parts make another tree", () => {
  const trees = new RecentTree();
  const inner = { "f:c": fieldsLeaf };
  const all: readonly TreeParts[] = [
    [...a, ...b],
    a,
    [...b, ...a],
    ["f:a", inner],
    ["f:a", { ...inner }],
    [...member, ...a, ...b],
    [...member, ...a],
  ];
  const bare = ['{"f:a":{},"f:b":{}}', '{"f:a":{}}', '{"f:b":{},"f:a":{}}', '{"f:a":{"f:c":{}}}', '{"f:a":{"f:c":{}}}'];
  const texts = [...bare, '{".":{},"f:a":{},"f:b":{}}', '{".":{},"f:a":{}}'];
  const made = all.map((parts) => trees.of([...parts]));
  expect(made.map((tree) => JSON.stringify(tree))).toEqual(texts);
  expect(made[4]?.["f:a"]).not.toBe(inner);
});

test("members and others of one place do not push each other out", () => {
  const trees = new RecentTree();
  const [own, other] = [trees.of([...member, ...a]), trees.of([...a])];
  expect(trees.of([...member, ...a])).toBe(own);
  expect(trees.of([...a])).toBe(other);
});

test("a tree of very many parts is not kept", () => {
  const trees = new RecentTree();
  const parts = Array.from({ length: 300 }, (_, index): TreeParts => [`f:${index}`, fieldsLeaf]).flat();
  expect(trees.of([...parts])).not.toBe(trees.of([...parts]));
});
