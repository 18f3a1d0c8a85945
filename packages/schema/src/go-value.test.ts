import { expect, test } from "vitest";
import { goJson, goQuote, goValue } from "./index.ts";

test.each([
  ["plain", '"plain"'],
  ['a "b" \\', '"a \\"b\\" \\\\"'],
  ["tab\tline\nbell\u0007", '"tab\\tline\\nbell\\a"'],
  ["\u0001\u007f", '"\\x01\\x7f"'],
  ["é日本🚀", '"é日本🚀"'],
  ["no\u00a0break\u200b", '"no\\u00a0break\\u200b"'],
])("goQuote() prints %j as Go does", (text, expected) => {
  expect(goQuote(text)).toBe(expected);
});

test("goValue() quotes strings and prints the rest as JSON with sorted keys", () => {
  expect([goValue("a"), goValue(1.5), goValue(true), goValue(null)]).toEqual(['"a"', "1.5", "true", "null"]);
  expect(goValue({ b: [{ d: 1, c: "<x>" }], a: null })).toBe('{"a":null,"b":[{"c":"\\u003cx\\u003e","d":1}]}');
  expect(goJson("a & b")).toBe('"a \\u0026 b"');
});
