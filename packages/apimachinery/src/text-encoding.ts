/** The encoding of a manifest's bytes, which should be UTF-8. */

/** Byte order marks, and how texts begin whose first character is ASCII; `0` is a zero byte, `x` another. */
const signs: readonly (readonly [sign: readonly (number | "x")[], encoding: string])[] = [
  [[0xff, 0xfe, 0, 0], "UTF-32LE"],
  [[0, 0, 0xfe, 0xff], "UTF-32BE"],
  [[0xff, 0xfe], "UTF-16LE"],
  [[0xfe, 0xff], "UTF-16BE"],
  [[0xef, 0xbb, 0xbf], "UTF-8 with a byte order mark"],
  [["x", 0, 0, 0], "UTF-32LE without a byte order mark"],
  [[0, 0, 0, "x"], "UTF-32BE without a byte order mark"],
  [["x", 0], "UTF-16LE without a byte order mark"],
  [[0, "x"], "UTF-16BE without a byte order mark"],
];

/** What the first bytes of a text say of its encoding; undefined for UTF-8, and when they say nothing. */
export function textEncodingOf(bytes: Uint8Array): string | undefined {
  return signs.find(([sign]) =>
    sign.every((each, index) => (each === "x" ? (bytes[index] ?? 0) !== 0 : bytes[index] === each)),
  )?.[1];
}

/**
 * The text of a YAML file: UTF-8, or UTF-16 with a byte order mark, as YAML allows. Errors: an `Error` names
 * the encoding, or the place of the first byte that is not UTF-8.
 */
export function decodeYamlText(bytes: Uint8Array): string {
  const encoding = textEncodingOf(bytes);
  if (encoding === "UTF-16LE" || encoding === "UTF-16BE") return new TextDecoder(encoding).decode(bytes);
  if (encoding?.startsWith("UTF-8") === false) throw new Error(`the text is ${encoding}, expected UTF-8`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const at = firstInvalid(bytes);
    const byte = (bytes[at] ?? 0).toString(16).padStart(2, "0");
    throw new Error(`the text is not UTF-8: byte 0x${byte} at offset ${at}, expected UTF-8`);
  }
}

/** Where the first character begins that is not UTF-8. */
function firstInvalid(bytes: Uint8Array): number {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const encoder = new TextEncoder();
  for (let at = text.indexOf("\ufffd"); at !== -1; at = text.indexOf("\ufffd", at + 1)) {
    const offset = encoder.encode(text.slice(0, at)).length;
    const isReplacement = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd;
    if (!isReplacement) return offset;
  }
  return bytes.length;
}
