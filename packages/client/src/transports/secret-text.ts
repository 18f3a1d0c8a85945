/** Which texts are secrets, whatever the field that holds them is called. */

/** PEM keys, JSON web tokens, user and password in an address, a flag with its value, wherever they stand. */
const secretPattern = new RegExp(
  [
    "-----BEGIN [A-Z ]*PRIVATE KEY-----",
    String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}`,
    String.raw`\b[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@`,
    String.raw`(?:^|\s)--?[\w-]*(?:[Pp]assword|[Pp]asswd|[Pp]assphrase|[Ss]ecret|[Tt]oken|(?:api|access|private)-?[Kk]ey)=[^\s=]`,
    String.raw`\b(?:[Bb]earer|[Bb]asic) [\w.~+/=-]{16,}`,
    String.raw`\b(?:password|passwd|pwd|secret|token)=[^\s;&"']{4,}`,
  ].join("|"),
);
/** Certificates and public keys look like secrets and are none. */
const publicText =
  /^(?:-----BEGIN (?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE REQUEST)-----|LS0tLS1CRUdJTiBDRVJU|LS0tLS1CRUdJTiBQVUJMS|ssh-\w+ )/;
/**
 * No identifier of Kubernetes is so long without a dot, a slash or a hyphen and has letters of both cases and
 * digits.
 */
const run = /[A-Za-z0-9+/_=-]{40,}|[A-Za-z0-9+_=]{24,}/g;

export function isSecretText(text: string): boolean {
  if (secretPattern.test(text)) return true;
  if (text.length < 24 || publicText.test(text)) return false;
  return text.match(run)?.some(looksRandom) ?? false;
}

const bitsMin = 3.6;
/**
 * How often one kind of characters follows another: 0.6 in what is random, half of it in words that are
 * written together.
 */
const changesMin = 0.38;

function looksRandom(text: string): boolean {
  const kinds = Array.from(text, kindOf);
  const count = (kind: string): number => kinds.filter((each) => each === kind).length;
  if (count("A") < 2 || count("a") < 2 || count("0") < 1) return false;
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  return changes / text.length >= changesMin && bitsOf(text) >= bitsMin;
}

function kindOf(character: string): string {
  if (character >= "a" && character <= "z") return "a";
  if (character >= "A" && character <= "Z") return "A";
  return character >= "0" && character <= "9" ? "0" : "-";
}

/** Shannon's entropy of one character. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
