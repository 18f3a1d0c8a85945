import { expect, test } from "vitest";
import { decodeYamlText, textEncodingOf } from "./text-encoding.ts";

const text = "kind: Café\n";
const utf16 = (of: string): Buffer => Buffer.from(of, "utf16le");
const utf32 = (of: string): Buffer => Buffer.from(Uint32Array.from(of, (each) => each.codePointAt(0) ?? 0).buffer);

test.each([
  ["UTF-8", Buffer.from(text)],
  ["UTF-8 with a mark", Buffer.from(`\ufeff${text}`)],
  ["UTF-16LE with a mark", utf16(`\ufeff${text}`)],
  ["UTF-16BE with a mark", utf16(`\ufeff${text}`).swap16()],
])("YAML in %s is read", (_, bytes) => {
  expect(decodeYamlText(bytes)).toBe(text);
});

test.each([
  ["UTF-16LE without a byte order mark", utf16(text)],
  ["UTF-16BE without a byte order mark", utf16(text).swap16()],
  ["UTF-32LE", utf32(`\ufeff${text}`)],
  ["UTF-32BE without a byte order mark", utf32(text).swap32()],
])("a text in %s is refused by the name of its encoding", (encoding, bytes) => {
  expect(() => decodeYamlText(bytes)).toThrow(`the text is ${encoding}, expected UTF-8`);
});

test("of a text that is not UTF-8 the first wrong byte is named", () => {
  expect(() => decodeYamlText(Buffer.from(text, "latin1"))).toThrow("not UTF-8: byte 0xe9 at offset 9,");
  const behind = Buffer.concat([Buffer.from("é\ufffd"), Buffer.from([0xff])]);
  expect(() => decodeYamlText(behind)).toThrow("byte 0xff at offset 5");
});

test.each(["", "a", "{}", "\u0000"])("%j says nothing of its encoding", (short) => {
  expect(textEncodingOf(Buffer.from(short))).toBeUndefined();
});
