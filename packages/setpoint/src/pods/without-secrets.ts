/**
 * Takes out of a program's words what may be a secret. A status is read by more users than a log, so what
 * only looks like a secret goes too.
 */
import type { Pod } from "@setpoint/api";

const placeholder = "(secret)";
/** Shorter values of variables would hit ordinary words. */
const valueLengthMin = 6;
const secretName =
  "[\\w.-]{0,40}(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie|signature)[\\w.-]{0,40}";
const namesSecret = new RegExp(`^${secretName}$`, "i");

// Each repetition has a limit: what a program wrote must not cost more time than it has characters.
/** In this order: the first ones know where a secret ends. */
const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g, placeholder],
  // A URL with a user and a password.
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"']+@/gi, `$1${placeholder}@`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${placeholder}`],
  // name=value, name: value, "name":"value", --name value
  [
    new RegExp(`(["']?${secretName}["']?\\s*[:=]\\s*)("(?:[^"\\\\]|\\\\.)*"?|'[^']*'?|[^\\s,;&"'}]+)`, "gi"),
    `$1${placeholder}`,
  ],
  [new RegExp(`(--?${secretName}\\s+)[^\\s-][^\\s]*`, "gi"), `$1${placeholder}`],
  // A JSON Web Token, and the key IDs of AWS.
  [/\beyJ[\w-]{5,}(?:\.[\w-]*){0,2}/g, placeholder],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, placeholder],
  // Long and of all sorts of characters, as no word or name of an object is.
  [/\b(?=[\w+=-]{0,64}[a-z])(?=[\w+=-]{0,64}[A-Z])(?=[\w+=-]{0,64}\d)[\w+=-]{32,}/g, placeholder],
];

/** `text` without what looks like a secret, and without the values of the pod's variables with such names. */
export function withoutSecrets(text: string, pod: Pod): string {
  const known = secretVariables(pod).reduce((rest, value) => rest.replaceAll(value, placeholder), text);
  return patterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), known);
}

/** The longest first, because one may contain another. */
function secretVariables({ spec }: Pod): readonly string[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return containers
    .flatMap(({ env = [] }) => env)
    .flatMap(({ name, value = "" }) => (namesSecret.test(name) && value.length >= valueLengthMin ? [value] : []))
    .toSorted((a, b) => b.length - a.length);
}
