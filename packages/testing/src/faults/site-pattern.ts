/** Names that chance made, as `*`: so that a site has one name in all runs. */

const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "*"],
  [/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g, "*"],
  // Identifiers of operands: long and of digits and letters.
  [/\b(?=[a-z]*\d)[0-9a-f]{8,}\b/g, "*"],
  // Suffixes of generated names have no vowels.
  [/-[bcdfghjklmnpqrstvwxz2456789]{4,10}(?![a-z0-9])/g, "-*"],
];

/** What every pattern needs; most texts have none of it. */
const hint = /\d|-[bcdfghjklmnpqrstvwxz2456789]{4}/;

/** `PATCH default/pods/orders-x7k2p` → `PATCH default/pods/orders-*`. */
export function sitePattern(text: string): string {
  if (!hint.test(text)) return text;
  return patterns.reduce((result, [pattern, by]) => result.replaceAll(pattern, by), text);
}
