import fc from "fast-check";
import { expect, test } from "vitest";
import { cloneJson, copyObject, deepEqual, deepFreeze } from "./json-value.ts";

test("a copy equals its original and shares nothing with it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const original = deepFreeze(JSON.parse(JSON.stringify(value)) as unknown);
      const copy = cloneJson(original);
      expect(deepEqual(copy, original)).toBe(true);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(original));
      if (typeof copy === "object" && copy !== null) expect(Object.isFrozen(copy)).toBe(false);
    }),
  );
});

test("a copy of one level has the very parts of its original, and may be changed", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const original = deepFreeze(JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
      const copy = copyObject(original);
      expect(Object.entries(copy)).toEqual(Object.entries(original));
      for (const key of Object.keys(original)) expect(copy[key]).toBe(original[key]);
      copy["added"] = 1;
    }),
  );
});

test("a copy of one level takes a key __proto__ for a key", () => {
  const original = JSON.parse('{"a":1,"__proto__":{"b":2}}') as object;
  expect(JSON.stringify(copyObject(original))).toBe('{"a":1,"__proto__":{"b":2}}');
});

test.each([
  [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
  [{ a: undefined }, {}, true],
  [{ a: undefined, b: 1 }, { b: 1, c: undefined }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: null }, {}, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{}, [], false],
  [null, {}, false],
  [1, "1", false],
])("%j and %j are equal: %s", (a, b, expected) => {
  expect(deepEqual(a, b)).toBe(expected);
});

test("freezing reaches every level and stops at parts that are frozen already", () => {
  const part = deepFreeze({ deep: { er: [1] } });
  const whole = deepFreeze({ part, list: [{ x: 1 }] });
  expect(Object.isFrozen(whole.list[0])).toBe(true);
  expect(Object.isFrozen(part.deep.er)).toBe(true);
});
