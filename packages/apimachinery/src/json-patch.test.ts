import { expect, test } from "vitest";
import { jsonPatch, jsonPatchOperationsMax } from "./json-patch.ts";
import { isApiError } from "./status.ts";

const document = { a: { b: [1, 2, 3] }, "x/y": 1, "m~n": 2 };

test.each([
  [[{ op: "add", path: "/c", value: 1 }], { ...document, c: 1 }],
  [[{ op: "add", path: "/a/b/1", value: 9 }], { ...document, a: { b: [1, 9, 2, 3] } }],
  [[{ op: "add", path: "/a/b/-", value: 9 }], { ...document, a: { b: [1, 2, 3, 9] } }],
  [[{ op: "remove", path: "/a/b/0" }], { ...document, a: { b: [2, 3] } }],
  [[{ op: "replace", path: "/x~1y", value: 5 }], { ...document, "x/y": 5 }],
  [[{ op: "replace", path: "/m~0n", value: 5 }], { ...document, "m~n": 5 }],
  [[{ op: "move", from: "/a/b", path: "/b" }], { a: {}, "x/y": 1, "m~n": 2, b: [1, 2, 3] }],
  [[{ op: "copy", from: "/x~1y", path: "/z" }], { ...document, z: 1 }],
  [[{ op: "test", path: "/a/b", value: [1, 2, 3] }], document],
  [[{ op: "test", path: "/none", value: null }], document],
  [[{ op: "replace", path: "", value: 1 }], 1],
  [[{ op: "replace", path: "/none", value: 1 }], { ...document, none: 1 }],
])("%j", (patch, result) => {
  expect(jsonPatch(document, patch)).toEqual(result);
});

function codeOf(patch: unknown): number {
  try {
    jsonPatch(document, patch);
    return 200;
  } catch (error) {
    return isApiError(error) ? error.code : 0;
  }
}

test.each([
  [[{ op: "test", path: "/a", value: 1 }], 422],
  [[{ op: "remove", path: "/none" }], 422],
  [[{ op: "replace", path: "/none/deeper", value: 1 }], 422],
  [[{ op: "replace", path: "/list/9", value: 1 }], 422],
  [[{ op: "add", path: "/none/deep", value: 1 }], 422],
  [[{ op: "add", path: "/a/b/9", value: 1 }], 422],
  [[{ op: "what", path: "/a" }], 422],
  [[{ op: "move", from: "/a", path: "/a/b" }], 422],
  [{ op: "add" }, 400],
  [["add"], 400],
])("%j is refused with %i", (patch, code) => {
  expect(codeOf(patch)).toBe(code);
});

test("more operations than the limit are refused before any is done", () => {
  const patch = Array.from({ length: jsonPatchOperationsMax + 1 }, () => ({ op: "test", path: "", value: 1 }));
  expect(() => jsonPatch(document, patch)).toThrow(
    "The allowed maximum operations in a JSON patch is 10000, got 10001",
  );
});

test("a failed test tells clients no more than upstream does", () => {
  expect(() => jsonPatch(document, [{ op: "test", path: "/a", value: 1 }])).toThrow(
    "the server rejected our request due to an error in our request",
  );
});

test("a patch cannot reach a prototype", () => {
  expect(codeOf([{ op: "add", path: "/__proto__/polluted", value: 1 }])).toBe(422);
  expect(Object.hasOwn(jsonPatch({}, [{ op: "add", path: "/__proto__", value: 1 }]) as object, "__proto__")).toBe(true);
});
