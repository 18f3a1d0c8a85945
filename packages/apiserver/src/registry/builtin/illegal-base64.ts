/** Where Go's decoder of base64 stops. */

const alphabet = /[A-Za-z0-9+/]/;

/** `illegal base64 data at input byte 4`, for a text that is none. */
export function illegalBase64(text: string): string {
  return `illegal base64 data at input byte ${offsetOf(text)}`;
}

/**
 * Groups have four characters; line ends count for nothing. A group that does not end is named by its start.
 */
function offsetOf(text: string): number {
  let inGroup = 0;
  for (const [at, character] of text.split("").entries()) {
    if (character === "\n" || character === "\r") continue;
    if (character === "=") return offsetInPadding(text, at, inGroup);
    if (!alphabet.test(character)) return at;
    inGroup = (inGroup + 1) % 4;
  }
  return text.length - inGroup;
}

/** A group may end with one or two of these, and nothing may follow. */
function offsetInPadding(text: string, at: number, inGroup: number): number {
  if (inGroup < 2) return at;
  if (inGroup === 3) return at + 1;
  if (at + 1 === text.length) return text.length;
  return text[at + 1] === "=" ? at + 2 : at + 1;
}
