import { expect, test } from "vitest";
import { covers } from "./covers.ts";

test.each([
  ["nothing wanted", { a: 1 }, undefined, true],
  ["a field that is wanted as undefined", { a: 1 }, { b: undefined }, true],
  ["more than is wanted", { a: 1, b: 2 }, { a: 1 }, true],
  ["less than is wanted", { a: 1 }, { a: 1, b: 2 }, false],
  ["another value", { a: 1 }, { a: 2 }, false],
  ["more below", { a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
  ["another value below", { a: { b: 1 } }, { a: { b: 2 } }, false],
  ["nothing where an empty object is wanted", {}, { a: {} }, false],
  ["nothing at all", undefined, { a: 1 }, false],
  ["null where an object is wanted", null, {}, false],
  ["an object where null is wanted", {}, null, false],
  ["null where null is wanted", { a: null }, { a: null }, true],
  ["a text where an object is wanted", "a", {}, false],
  ["an object where a text is wanted", {}, "a", false],
  ["a list where an object is wanted", { a: [1] }, { a: {} }, false],
  ["an object where a list is wanted", { a: {} }, { a: [] }, false],
  ["a list where an empty list is wanted", [], [], true],
  ["the same list", [1, "a"], [1, "a"], true],
  ["a list in another order", ["a", 1], [1, "a"], false],
  ["a longer list of values", [1, 2], [1], false],
  ["a shorter list of values", [1], [1, 2], false],
  ["values with more below", [{ a: 1, b: 2 }], [{ a: 1 }], true],
  ["named elements in another order", [{ name: "y" }, { name: "x", a: 1 }], [{ name: "x" }, { name: "y" }], true],
  ["named elements and more of them", [{ name: "y" }, { name: "x" }], [{ name: "x" }], true],
  ["a named element with another value", [{ name: "y" }, { name: "x", a: 1 }], [{ name: "x", a: 2 }], false],
  ["no element of that name", [{ name: "y" }], [{ name: "x" }], false],
  ["fewer named elements", [{ name: "x" }], [{ name: "x" }, { name: "x" }], false],
  ["named elements beside others", ["a", null, { name: 7 }, { name: "x" }], [{ name: "x" }], true],
  ["elements of which only some have names", [{ name: "x" }, 1], [1, { name: "x" }], false],
  ["a name that is no text", [{ name: 1, a: 1 }, { name: 2 }], [{ name: 1 }], false],
  ["nulls in a list", [null], [null], true],
])("%s", (_, actual, wanted, isCovered) => {
  expect(covers(actual, wanted)).toBe(isCovered);
});
