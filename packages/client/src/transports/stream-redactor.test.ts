import { expect, test } from "vitest";
import { Redactor } from "./redactor.ts";
import { StreamRedactor } from "./stream-redactor.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ";
const pem = "-----BEGIN RSA PRIVATE KEY-----\nY2FuYXJ5\nc2VjcmV0\n-----END RSA PRIVATE KEY-----";

/** What is recorded of a text that comes in pieces of this size. */
function recorded(text: string, size: number): string {
  const stream = new StreamRedactor(new Redactor());
  const bytes = new TextEncoder().encode(text);
  let found = "";
  for (let at = 0; at < bytes.length; at += size) found += stream.push(bytes.subarray(at, at + size));
  found += stream.end();
  return new TextDecoder().decode(Uint8Array.from(found, (each) => each.charCodeAt(0)));
}

test.each([1, 2, 3, 7, 20, 1_000])("nothing is left of a secret that is cut into pieces of %i bytes", (size) => {
  const text = `begin ä\nlogin with ${jwt} now\n${pem}\npostgres://me:canary@db/x\nend`;
  expect(recorded(text, size)).toBe("begin ä\nredacted-1\nredacted-2\n\n\n\nredacted-3\nend");
});

test.each([1, 5, 100_000])("what is no secret stays as it is, byte for byte (pieces of %i)", (size) => {
  const text = `ä\r\n\n${"x".repeat(5_000)}\nwithout an end`;
  expect(recorded(text, size)).toBe(text);
});

test("a line without an end is not kept without a limit, and hides no secret", () => {
  const plain = "x".repeat(300_000);
  expect(recorded(plain, 10_000)).toBe(plain);
  const found = recorded(`${"x".repeat(130_000)} ${jwt} ${"y".repeat(130_000)}\nnext`, 10_000);
  expect(found).not.toContain("c2lnbmF0dXJl");
  expect(found).not.toContain("yyy");
  expect(found.endsWith("\nnext")).toBe(true);
});
