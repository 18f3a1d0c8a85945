/** The contents of string and bytes literals. */
import { lookupTable } from "@setpoint/apimachinery";

const short: Readonly<Record<string, string>> = lookupTable({
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "`": "`",
  "?": "?",
});

const escape =
  /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]|$))/g;

interface Body {
  readonly text: string;
  readonly isRaw: boolean;
}

function bodyOf(literal: string): Body {
  const isRaw = /^[bB]?[rR]/.test(literal);
  const quoted = literal.replace(/^[bBrR]+/, "");
  const width = /^(?:"""|''')/.test(quoted) ? 3 : 1;
  return { text: quoted.slice(width, -width).replaceAll("\r\n", "\n").replaceAll("\r", "\n"), isRaw };
}

/** The string value of a literal, or undefined when an escape in it is invalid. */
export function parseStringLiteral(literal: string): string | undefined {
  const { text, isRaw } = bodyOf(literal);
  if (isRaw) return text;
  let isValid = true;
  const result = text.replace(escape, (...groups: (string | undefined)[]) => {
    const [, letter, hex, unicode, long, octal] = groups;
    if (letter !== undefined) return short[letter] ?? "";
    const code = codeOf(hex ?? unicode ?? long, octal);
    if (code === undefined || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      isValid = false;
      return "";
    }
    return String.fromCodePoint(code);
  });
  return isValid ? result : undefined;
}

/** The bytes value of a literal; `\x` and octal escapes are single bytes here. */
export function parseBytesLiteral(literal: string): Uint8Array | undefined {
  const { text, isRaw } = bodyOf(literal);
  const encoder = new TextEncoder();
  if (isRaw) return encoder.encode(text);
  const bytes: number[] = [];
  let end = 0;
  for (const match of text.matchAll(escape)) {
    bytes.push(...encoder.encode(text.slice(end, match.index)));
    end = match.index + match[0].length;
    const [, letter, hex, unicode, long, octal] = match as readonly (string | undefined)[];
    if (letter !== undefined) bytes.push(...encoder.encode(short[letter] ?? ""));
    else {
      const code = codeOf(hex, octal);
      if (code === undefined || unicode !== undefined || long !== undefined) return undefined;
      bytes.push(code);
    }
  }
  bytes.push(...encoder.encode(text.slice(end)));
  return Uint8Array.from(bytes);
}

function codeOf(hex: string | undefined, octal: string | undefined): number | undefined {
  if (hex !== undefined) return Number.parseInt(hex, 16);
  return octal === undefined ? undefined : Number.parseInt(octal, 8);
}
