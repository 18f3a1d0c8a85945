import { expect, test } from "vitest";
import { illegalBase64 } from "./illegal-base64.ts";

test.each([
  ["!", 0],
  ["aGk", 0],
  ["aGkhaG!h", 6],
  ["a===", 1],
  ["aGk=x", 4],
  ["aG=k", 3],
  ["aG=", 3],
])("the decoder of Go stops in %s at byte %i", (text, at) => {
  expect(illegalBase64(text)).toBe(`illegal base64 data at input byte ${at}`);
});
