import fc from "fast-check";
import { expect, test } from "vitest";
import { deepEqual, type JsonObject } from "./json-value.ts";
import { createMergePatch, mergedPatch, mergePatch } from "./merge-patch.ts";

/** The table of RFC 7386, appendix A. */
test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("%j patched with %j is %j", (target, patch, result) => {
  expect(mergePatch(target, patch)).toEqual(result);
});

const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
const tree: fc.Arbitrary<JsonObject> = fc.letrec((tie) => ({
  node: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.oneof({ maxDepth: 3 }, leaf, tie("node"))),
})).node as fc.Arbitrary<JsonObject>;

test("the patch made from two objects leads from the one to the other", () => {
  const plain = tree.map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
  fc.assert(
    fc.property(plain, plain, (from, to) => {
      expect(deepEqual(mergePatch(from, createMergePatch(from, to)), to)).toBe(true);
    }),
  );
});

test("equal objects need an empty patch", () => {
  expect(createMergePatch({ a: { b: [1] } }, { a: { b: [1] } })).toEqual({});
});

test("a patch to an empty object keeps the empty object", () => {
  expect(createMergePatch({}, { a: {} })).toEqual({ a: {} });
});

test("mergePatch() copies, mergedPatch() shares what the patch leaves alone", () => {
  const target = { a: { b: [1], c: 1 }, d: { e: 1 } };
  const patch = { a: { c: 2 } };
  const shared = mergedPatch(target, patch) as typeof target;
  expect(shared).toEqual({ a: { b: [1], c: 2 }, d: { e: 1 } });
  expect(shared.d).toBe(target.d);
  expect(shared.a.b).toBe(target.a.b);
  const copied = mergePatch(target, patch) as typeof target;
  expect(copied).toEqual(shared);
  expect(copied.d).not.toBe(target.d);
  expect(copied.a.b).not.toBe(target.a.b);
});
