/** String literals of PromQL, which are those of Go. */

const simple: Readonly<Record<string, string>> = {
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
};

const escape = /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([\s\S]?))/g;

/** The text that a literal stands for; undefined when an escape is none. */
export function unquoted(literal: string): string | undefined {
  const inner = literal.slice(1, -1);
  if (literal.startsWith("`")) return inner;
  let isValid = true;
  const text = inner.replaceAll(
    escape,
    (_, letter?: string, byte?: string, short?: string, long?: string, octal?: string): string => {
      if (letter !== undefined) return simple[letter] ?? "";
      const code = octal === undefined ? Number.parseInt(byte ?? short ?? long ?? "-1", 16) : Number.parseInt(octal, 8);
      if (code >= 0 && code <= 0x10_ff_ff) return String.fromCodePoint(code);
      isValid = false;
      return "";
    },
  );
  return isValid ? text : undefined;
}
