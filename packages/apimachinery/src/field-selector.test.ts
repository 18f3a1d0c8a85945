import { expect, test } from "vitest";
import { formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selector.ts";

const fields = { "metadata.name": "a", "status.phase": "Running", odd: "x,y=\\z" };

test.each([
  ["", true],
  ["metadata.name=a", true],
  ["metadata.name==a,status.phase!=Failed", true],
  ["metadata.name!=a", false],
  ["absent=", true],
  [String.raw`odd=x\,y\=\\z`, true],
])("%j selects the object: %s", (text, expected) => {
  expect(matchesFields(parseFieldSelector(text), fields)).toBe(expected);
});

test.each([
  ["nonsense", "invalid selector: 'nonsense'; can't understand 'nonsense'"],
  [String.raw`a=\b`, String.raw`invalid field selector: invalid escape sequence: \b`],
  ["a=b=c", "invalid field selector: unescaped character in value: 61"],
])("%j is refused as upstream refuses it", (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(new Error(message));
});

test("a selector written back selects the same", () => {
  const selector = parseFieldSelector(String.raw`odd=x\,y\=\\z,a!=b`);
  expect(parseFieldSelector(formatFieldSelector(selector))).toEqual(selector);
});
