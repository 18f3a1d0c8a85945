/** Takes secrets out of what is recorded, so that equal secrets stay equal and nothing of them is left. */
import { sha256 } from "./sha256.ts";

/** What stands for a secret: a number, in the order of first appearance, says nothing about it. */
const redactedPattern = /^redacted-(\d+)$/;

/**
 * Fields that hold a secret wherever they stand, by the end of their name: `dbPassword`, `client_secret`, `api_key`. Not those that end
 * in `secret` or `key` alone: they name a Secret, or an entry of one.
 */
const secretField = new RegExp(
  `(?:${[
    "pass(?:word|wd|phrase|code)s?",
    "pwd",
    "tokens?",
    "credentials?",
    "authorization",
    "(?:client|consumer|app|shared|jwt|hmac|cookie|session|signing|oauth2?)[._-]?secrets?",
    "(?:api|auth|access|secret|private|encryption|signing|account|master|shared|ssh|license)[._-]?keys?",
    "client-?key-?data",
  ].join("|")})$`,
  "i",
);
/** `dbPass`, `DB_PASS`: the end of a word alone would be too much (`bypass`). */
const passField = /(?:^|[._-])(?:pass|PASS|Pass)$|[a-z]Pass$/;
/** Names of variables whose value is one. */
const secretName = /pass(word|wd|phrase)?|secret|token|credential|api_?key|private_?key|access_?key/i;
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/** PEM keys, JSON web tokens, and user and password in an address, wherever they stand. */
const secretText =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/;

/**
 * Replaces secrets by `redacted-N`: data of Secrets (and their last-applied annotation), tokens, passwords, keys, values of
 * variables with a telling name. The same secret gets the same N for the life of the redactor, and what is redacted
 * already stays as it is, so that a replayed program that copies one writes what was recorded.
 */
export class Redactor {
  /** By their digests: what is kept as long as the process lives must hold no secret. */
  readonly #numbers = new Map<string, number>();
  #last = 0;

  /** `isSecret`: the value is of a Secret, also where it does not say so (patches, items of lists). */
  redact(value: unknown, isSecret = false): unknown {
    // What is redacted already is looked at too, for its number.
    if (typeof value === "string")
      return secretText.test(value) || redactedPattern.test(value) ? this.#placeholder(value) : value;
    if (value instanceof Uint8Array) return isSecret ? this.#placeholder(String(value)) : value;
    if (Array.isArray(value)) return value.map((each) => this.redact(each, isSecret));
    if (typeof value !== "object" || value === null) return value;
    return this.#redactObject(value as Readonly<Record<string, unknown>>, isSecret);
  }

  #redactObject(object: Readonly<Record<string, unknown>>, isSecret: boolean): Record<string, unknown> {
    const { kind, name } = object;
    const isOfSecret = isSecret || kind === "Secret" || kind === "SecretList";
    const isVariable = typeof name === "string" && secretName.test(name) && typeof object["value"] === "string";
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(object)) {
      if (isOfSecret && (key === "data" || key === "stringData")) copy[key] = this.#redactAll(value, key === "data");
      // A JSON patch of a Secret.
      else if ((isVariable || isSecret) && key === "value") copy[key] = this.#redactAll(value, isSecret);
      else if (isOfSecret && key === lastApplied) copy[key] = this.#placeholder(String(value));
      else if (isSecretField(key)) copy[key] = this.#redactField(value, isOfSecret);
      else copy[key] = this.redact(value, isOfSecret);
    }
    return copy;
  }

  /** Text is the secret; an object only says where it is. */
  #redactField(value: unknown, isOfSecret: boolean): unknown {
    if (typeof value === "string") return this.#placeholder(value);
    if (!Array.isArray(value)) return this.redact(value, isOfSecret);
    return value.map((each: unknown) => this.#redactField(each, isOfSecret));
  }

  #redactAll(value: unknown, isBase64: boolean): unknown {
    if (typeof value === "string") return isBase64 ? this.#encodedPlaceholder(value) : this.#placeholder(value);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#redactAll(each, isBase64)]));
  }

  /** Data of a Secret stay base64, and the same text plain and encoded is the same secret. */
  #encodedPlaceholder(value: string): string {
    const plain = decoded(value);
    return plain === undefined ? this.#placeholder(value) : btoa(this.#placeholder(plain));
  }

  #placeholder(secret: string): string {
    if (secret === "") return "";
    const redacted = redactedPattern.exec(secret);
    if (redacted !== null) {
      this.#last = Math.max(this.#last, Number(redacted[1]));
      return secret;
    }
    const digest = sha256(secret);
    const number = this.#numbers.get(digest) ?? ++this.#last;
    this.#numbers.set(digest, number);
    return `redacted-${number}`;
  }
}

function isSecretField(name: string): boolean {
  return secretField.test(name) || passField.test(name);
}

function decoded(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}
