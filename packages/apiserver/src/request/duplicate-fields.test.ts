import fc from "fast-check";
import { expect, test } from "vitest";
import { duplicateFields } from "./duplicate-fields.ts";

const found = (text: string): readonly string[] => duplicateFields(Buffer.from(text), JSON.parse(text));

test.each([
  ["a key twice", `{"a":1,"a":2}`, [`duplicate field "a"`]],
  ["a key three times is reported once", `{"a":1,"a":2,"a":3}`, [`duplicate field "a"`]],
  ["a key of a field", `{"spec":{"replicas":1,"replicas":2}}`, [`duplicate field "spec.replicas"`]],
  ["a key of an item", `{"a":[{"b":1},{"b":1,"b":[2]}]}`, [`duplicate field "a[1].b"`]],
  ["a whole object", `{"a":{"b":1},"c":2,"a":{"b":2}}`, [`duplicate field "a"`]],
  ["a key written in two ways", `{"a":1,"\\u0061":2}`, [`duplicate field "a"`]],
  ["several, in the order of the text", `[{"y":1,"y":2},{"x":{"z":1,"z":2}}]`, [`[0].y`, `[1].x.z`]],
  ["equal keys of different objects", `{"a":{"b":1},"c":{"b":1},"b":[{"a":1},{"a":1}]}`, []],
  ["colons, commas and quotes in strings", `{"a:b":"c:\\"d\\":e,","c":":"}`, []],
  ["no object", `"a:b"`, []],
])("%s", (_what, text, expected) => {
  expect(found(text)).toEqual(expected.map((each) => (each.startsWith("dup") ? each : `duplicate field "${each}"`)));
});

test("a text without a repeated key has none, whatever it holds", () => {
  const isSilent = (value: unknown): boolean => found(JSON.stringify(value)).length === 0;
  fc.assert(fc.property(fc.jsonValue(), isSilent));
});

test("at most 100 are reported", () => {
  expect(found(`[${Array.from({ length: 150 }, () => `{"a":1,"a":2}`).join(",")}]`)).toHaveLength(100);
});
