import { expect, test } from "vitest";
import { asJson } from "./as-json.ts";

const when = new Date("2026-01-02T03:04:05Z");

test.each<[string, unknown]>([
  ["plain", { a: [1, "b", { c: null, d: true }], e: {} }],
  ["fields that are undefined", { a: undefined, b: { c: undefined, d: 1 }, e: [{ f: undefined }] }],
  ["undefined in a list", { a: [1, undefined, 2] }],
  // oxlint-disable-next-line no-sparse-arrays -- an author may make one
  ["a list with a hole", { a: [1, , 2] }],
  ["numbers that JSON has not", { a: Number.NaN, b: [Number.POSITIVE_INFINITY], c: 0.5 }],
  ["what says itself how it is written", { at: when, other: { toJSON: () => ["x"] } }],
  ["functions and symbols", { a: () => 1, b: Symbol("s"), c: [() => 1], [Symbol("key")]: 2 }],
  ["objects of classes", { map: new Map([["a", 1]]), bytes: new Uint8Array([1, 2]) }],
  ["without a prototype", Object.assign(Object.create(null) as object, { a: { b: 1 } })],
  ["a key that is a name of the language", JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')],
])("as JSON has it: %s", (_what, value) => {
  expect(JSON.stringify(asJson(value))).toBe(JSON.stringify(value));
  expect(asJson(value)).toEqual(JSON.parse(JSON.stringify(value)));
});

test("it is a copy", () => {
  const value = { a: { b: [1] } };
  const copy = asJson(value);
  value.a.b.push(2);
  expect(copy).toEqual({ a: { b: [1] } });
});

test("what goes in circles is refused as by JSON", () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle["self"] = circle;
  expect(() => asJson(circle)).toThrow(/circular/);
});

test("a small bigint becomes a number, as it comes back from the API", () => {
  expect(asJson({ a: 1n, b: [2n ** 60n] })).toEqual({ a: 1, b: [2n ** 60n] });
});
