import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeJson, encodeJson, exactInteger, isJsonInteger } from "./json-text.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("every integer of int64 is the same after decoding and encoding, wherever it stands", () => {
  const place = fc.constantFrom(
    (text: string) => text,
    (text: string) => `[${text}]`,
    (text: string) => `{"a":[1,${text}],"b":{"c": ${text}}}`,
    (text: string) => `[0,\n\t${text}\n]`,
  );
  fc.assert(
    fc.property(int64, place, (integer, at) => {
      const text = at(String(integer));
      const value = decodeJson(text);
      expect(encodeJson(value)).toBe(text.replaceAll(/\s/g, ""));
    }),
    { numRuns: 1_000 },
  );
});

test("an integer is a bigint only if a number may not hold it", () => {
  const forms = ["9007199254740991", "9007199254740992", "-9007199254740992", "9223372036854775807"].map(decodeJson);
  expect(forms).toEqual([9007199254740991, 9007199254740992n, -9007199254740992n, 9223372036854775807n]);
  fc.assert(
    fc.property(int64, (integer) => {
      const value = decodeJson(String(integer));
      expect(value).toBe(exactInteger(integer));
      expect(isJsonInteger(value)).toBe(true);
      expect(BigInt(value as number | bigint)).toBe(integer);
    }),
  );
});

test.each([
  ["9223372036854775808", 2 ** 63],
  ["-9223372036854775809", -(2 ** 63)],
  ["9007199254740993.0", 9007199254740992],
  ["9.007199254740993e15", 9007199254740992],
  ["0.12345678901234567890", 0.12345678901234568],
  ["1e21", 1e21],
  ["1e-400", 0],
])("%s is a float, as for upstream", (text, value) => {
  expect(decodeJson(text)).toBe(value);
  if (!Number.isSafeInteger(value)) expect(isJsonInteger(value)).toBe(false);
});

test.each(["1e400", "-1E+400", "9".repeat(400)])("%.8s… is beyond the range of numbers", (text) => {
  expect(() => decodeJson(`{"a":${text}}`)).toThrow(
    `json: cannot unmarshal number ${text} into Go value of type float64`,
  );
});

test("digits within strings and keys stay text", () => {
  const text = '{"9007199254740993":"9007199254740993","a":" 9007199254740993, 1e400","__proto__":[9007199254740993]}';
  expect(encodeJson(decodeJson(text))).toBe(text);
});

test("any JSON is decoded and encoded as by the language, unless it has such integers", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(encodeJson(decodeJson(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("an integer beyond int64 in a value becomes a float, a small bigint a number", () => {
  expect([exactInteger(5n), exactInteger(2n ** 63n), exactInteger(2n ** 60n)]).toEqual([5, 2 ** 63, 2n ** 60n]);
});

test("what JSON does not have is null, an indent is kept, and a circle is refused", () => {
  expect(encodeJson(undefined)).toBe("null");
  expect(encodeJson({ a: 2n ** 60n }, 2)).toBe('{\n  "a": 1152921504606846976\n}');
  const circle: Record<string, unknown> = { n: 2n ** 60n };
  circle["self"] = circle;
  expect(() => encodeJson(circle)).toThrow(TypeError);
});
