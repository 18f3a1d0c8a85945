import { type FieldPathElement, fieldsLeaf, type FieldsTree } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { RecentTree, TreeDraft } from "./recent-tree.ts";

type Part = readonly [FieldPathElement, FieldsTree];

const a: Part = ["f:a", fieldsLeaf];
const b: Part = ["f:b", fieldsLeaf];
const c: Part = ["f:c", fieldsLeaf];

function make(trees: RecentTree, parts: readonly Part[], isMember = false): FieldsTree {
  const draft = new TreeDraft(trees, isMember ? "member" : "other");
  for (const [element, node] of parts) draft.add(element, node);
  return draft.tree();
}

test("the same parts make the very same tree, which nobody can change", () => {
  const trees = new RecentTree();
  const tree = make(trees, [a, b]);
  expect(make(trees, [a, b])).toBe(tree);
  expect(JSON.stringify(tree)).toBe('{"f:a":{},"f:b":{}}');
  expect(Object.isFrozen(tree)).toBe(true);
});

test("other parts make another tree: more, fewer, others, and the same in another order", () => {
  const trees = new RecentTree();
  const inner = { "f:c": fieldsLeaf };
  const all: readonly (readonly Part[])[] = [
    [a, b],
    [a, b, c],
    [a, b],
    [a],
    [b, a],
    [c, a],
    [["f:a", inner]],
    [["f:a", { ...inner }]],
    [["f:a", inner], b],
  ];
  const made = all.map((parts) => make(trees, parts));
  const texts = all.map((parts) => JSON.stringify(Object.fromEntries(parts)));
  expect(made.map((tree) => JSON.stringify(tree))).toEqual(texts);
  expect(made[7]?.["f:a"]).not.toBe(inner);
});

test("members and others of one place do not push each other out", () => {
  const trees = new RecentTree();
  const [own, other] = [make(trees, [a, b], true), make(trees, [a])];
  expect(JSON.stringify(own)).toBe('{".":{},"f:a":{},"f:b":{}}');
  expect(make(trees, [a, b], true)).toBe(own);
  expect(make(trees, [a])).toBe(other);
});

test("a member without children is a member", () => {
  const trees = new RecentTree();
  expect(new TreeDraft(trees, "member").isEmpty).toBe(true);
  expect(make(trees, [], true)).toEqual({ ".": fieldsLeaf });
});

test("trees that take turns are known, whichever part tells them from each other", () => {
  const trees = new RecentTree();
  const all: readonly (readonly Part[])[] = [[a, b, c], [a, c], [a], [b, c]];
  const made = all.map((parts) => make(trees, parts));
  for (const [index, parts] of all.entries()) expect(make(trees, parts)).toBe(made[index]);
  for (const [index, parts] of [...all.entries()].toReversed()) expect(make(trees, parts)).toBe(made[index]);
  // They begin as others do, and are none of them.
  expect(JSON.stringify(make(trees, [b, c, a]))).toBe('{"f:b":{},"f:c":{},"f:a":{}}');
  expect(JSON.stringify(make(trees, [c]))).toBe('{"f:c":{}}');
});

test("no more than the newest trees are known", () => {
  const trees = new RecentTree();
  const first = make(trees, [a]);
  for (let index = 0; index < 8; index++) make(trees, [[`f:${index}`, fieldsLeaf]]);
  expect(make(trees, [a])).not.toBe(first);
});

test("drafts of one place may be made within each other", () => {
  const trees = new RecentTree();
  make(trees, [a, b]);
  const outer = new TreeDraft(trees, "other");
  outer.add(...a);
  const inner = make(trees, [c]);
  outer.add("f:b", inner);
  expect(JSON.stringify(outer.tree())).toBe('{"f:a":{},"f:b":{"f:c":{}}}');
});

test("a tree of very many parts is not kept", () => {
  const trees = new RecentTree();
  const parts = Array.from({ length: 300 }, (_, index): Part => [`f:${index}`, fieldsLeaf]);
  expect(make(trees, parts)).not.toBe(make(trees, parts));
});
