import { expect, test } from "vitest";
import { goJsonError } from "./go-json-error.ts";

test.each([
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ['{"a":"b', "unexpected end of JSON input"],
  ["nothing", "invalid character 'o' in literal null (expecting 'u')"],
  ["a: b", "invalid character 'a' looking for beginning of value"],
  ["[1,]", "invalid character ']' looking for beginning of value"],
  ["[1 2]", "invalid character '2' after array element"],
  ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ["01", "invalid character '1' after top-level value"],
  ["-", "unexpected end of JSON input"],
  ["[-,1]", "invalid character ',' in numeric literal"],
  ["[1.,2]", "invalid character ',' after decimal point in numeric literal"],
  ["[1e+]", "invalid character ']' in exponent of numeric literal"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ["\ufeff{}", "invalid character 'ï' looking for beginning of value"],
])("%j is refused in Go's words", (text, message) => {
  expect(goJsonError(Buffer.from(text))).toBe(message);
});

test.each(["null", " { } ", "[]", '[{"a":[1,-0.5e-3,true,false,null,"\\u00e9\\n"]}, 0]'])("%s is JSON", (text) => {
  expect(goJsonError(Buffer.from(text))).toBeUndefined();
});
