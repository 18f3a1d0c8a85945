import { isApiError } from "@setpoint/apimachinery";
import { systemClock } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { decodeBody, type DecodedBody } from "./body-decoder.ts";
import { bodyLevelsMax, bodyValuesMax } from "./value-bounds.ts";
import { YamlThread } from "./yaml-thread.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const request = (type: string, body: Uint8Array) =>
  ({ method: "POST", path: "/", headers: { "content-type": `application/${type}` }, body }) as const;

async function codeOf(type: string, text: string | Uint8Array): Promise<number | DecodedBody> {
  try {
    const body = typeof text === "string" ? bytes(text) : text;
    return await decodeBody(
      request(type, body),
      new Map([["application/none", (encoded: Uint8Array): unknown => JSON.parse(String(encoded))]]),
    );
  } catch (error) {
    if (isApiError(error)) return error.code;
    throw error;
  }
}

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const listOf = (values: number): string => `[${"1,".repeat(values - 1)}1]`;

test.each([
  ["JSON with too many levels", "json", nested(bodyLevelsMax + 1), 400],
  ["JSON with too many values", "json", listOf(bodyValuesMax + 1), 413],
  ["YAML with too many levels", "yaml", nested(bodyLevelsMax + 1), 400],
  ["YAML with too many values", "yaml", `a: ${listOf(bodyValuesMax + 1)}`, 413],
  ["YAML that repeats itself", "yaml", `a: &a ["${"x".repeat(100_000)}"]\nb: [${"*a,".repeat(60)}]`, 413],
  ["YAML in a circle", "yaml", "a: &a [*a]", 400],
  ["YAML with an unknown alias", "yaml", "a: *b", 400],
  ["a body that its decoder cannot read", "none", "garbage", 400],
  ["a body of an unknown type", "unknown", "garbage", 415],
])("%s is the client's fault", async (_, type, text, code) => {
  expect(await codeOf(type, text)).toBe(code);
});

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");

test("YAML in UTF-16 with a byte order mark is read, as by kube-apiserver", async () => {
  const value = { kind: "Café" };
  expect(await codeOf("apply-patch+yaml", utf16("\ufeffkind: Café"))).toMatchObject({ value });
  expect(await codeOf("apply-patch+yaml", utf16('\ufeff{"kind":"Café"}').swap16())).toMatchObject({ value });
});

test.each([
  ["yaml", utf16("kind: a"), "error decoding YAML: the text is UTF-16LE without a byte order mark, expected UTF-8"],
  ["yaml", Buffer.from("kind: é", "latin1"), "error decoding YAML: the text is not UTF-8: byte 0xe9 at offset 6"],
  ["json", utf16('\ufeff{"a":1}'), "error decoding the body: the text is UTF-16LE, expected UTF-8"],
  ["json", utf16('{"a":1}').swap16(), "the text is UTF-16BE without a byte order mark, expected UTF-8"],
  ["json", Buffer.from('\ufeff{"a":1}'), "the text is UTF-8 with a byte order mark, expected UTF-8"],
])("the encoding of %s that cannot be read is named", async (type, body, message) => {
  await expect(decodeBody(request(type, body), new Map())).rejects.toThrow(message);
});

test("brackets and commas in strings do not count", async () => {
  const text = JSON.stringify({ a: "[,".repeat(bodyValuesMax), b: '\\"[[' });
  expect(await codeOf("json", text)).toMatchObject({ value: JSON.parse(text) });
});

test("what a body may hold is decoded", async () => {
  expect(await codeOf("json", nested(bodyLevelsMax))).toMatchObject({ value: expect.any(Array) });
  expect(await codeOf("json", listOf(bodyValuesMax))).toMatchObject({ value: expect.any(Array) });
});

test("the last of two equal keys wins, and each repetition is reported with its line", async () => {
  const text = "a: 1\nb:\n  c: 1\n  c: 2\na: 3\n";
  const duplicates = ['line 5: key "a" already set in map', 'line 4: key "c" already set in map'];
  expect(await codeOf("yaml", text)).toEqual({
    mediaType: "application/yaml",
    value: { a: 3, b: { c: 2 } },
    duplicates,
  });
});

test("a long YAML text is decoded on another thread, to the same value", async () => {
  await using thread = new YamlThread(systemClock);
  const text = Array.from({ length: 2_000 }, (_, i) => `k${i}: {n: ${i}, t: x}`).join("\n");
  const body = await decodeBody(request("yaml", bytes(text)), new Map(), thread.decode);
  expect(body).toEqual(await decodeBody(request("yaml", bytes(text)), new Map()));
  const broken = bytes(`${text}\na: [`);
  await expect(async () => decodeBody(request("yaml", broken), new Map(), thread.decode)).rejects.toThrow(
    "decoding YAML",
  );
});
