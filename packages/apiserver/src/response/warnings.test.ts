import { expect, test } from "vitest";
import { Warnings } from "./warnings.ts";

test("however many warnings there are, the header stays one that clients read", () => {
  const warnings = new Warnings();
  for (let n = 0; n < 100_000; n++) warnings.add(`${n} 日本${"x".repeat(500)}`);
  const header = warnings.header() ?? "";
  expect(header).toContain('299 - "0 日本xxx');
  expect(new TextEncoder().encode(header).length).toBeLessThan(12 * 1024);
});

test("equal warnings are sent once, and quotes and control characters cannot end one", () => {
  const warnings = new Warnings();
  for (const text of ["a", "a", 'say "b\\c"\r\nset-cookie: x']) warnings.add(text);
  expect(warnings.header()).toBe('299 - "a", 299 - "say \\"b\\\\c\\"  set-cookie: x"');
});
