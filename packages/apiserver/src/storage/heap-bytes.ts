/**
 * Estimates the heap bytes of a JSON value. Large values consist mostly of strings, which it counts as V8
 * stores them.
 */

const objectBytes = 32;
const propertyBytes = 16;
const stringBytes = 16;
/** Shorter strings are counted as one byte a character: they are not what fills a heap. */
const wideLengthMin = 1_024;
const isWide = /[\u0100-\uffff]/;

export function heapBytesOf(value: unknown): number {
  if (typeof value === "string") return stringBytes + textBytes(value);
  if (typeof value !== "object" || value === null) return 0;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const item of value) bytes += propertyBytes + heapBytesOf(item);
    return bytes;
  }
  for (const name in value)
    bytes += propertyBytes + name.length + heapBytesOf((value as Record<string, unknown>)[name]);
  return bytes;
}

/** One character beyond Latin-1 makes all of a string two bytes a character. */
function textBytes(text: string): number {
  return text.length >= wideLengthMin && isWide.test(text) ? 2 * text.length : text.length;
}
