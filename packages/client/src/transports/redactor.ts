/** Takes secrets out of what is recorded, so that equal secrets stay equal and nothing of them is left. */
import { isPlainSecretField, isReference, isSecretField, isSecretFlag, isSecretVariable } from "./secret-fields.ts";
import { isSecretText } from "./secret-text.ts";

/** What stands for a secret: a number, in the order of first appearance, says nothing about it. */
const redactedPattern = /^redacted-(\d+)$/;
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** What is known of a value besides itself. */
export interface RedactionSubject {
  /** It is of a Secret, also where it does not say so (patches, items of lists). */
  readonly isSecret?: boolean;
  /** It is of a kind of Kubernetes itself, in which `key` and `secret` say only where something is. */
  readonly isBuiltin?: boolean;
}

/** Where in a value it is. */
interface Place {
  readonly isSecret: boolean;
  readonly isBuiltin: boolean;
  /** The field that holds it, also through a list. */
  readonly at: string;
  readonly isInList: boolean;
}

/**
 * Replaces secrets by `redacted-N`: data of Secrets (and their last-applied annotation), tokens, passwords,
 * keys, values of variables, flags and fields with a telling name, and whatever looks like one. The same
 * secret gets the same N for the life of the redactor, and what is redacted already stays as it is, so that a
 * replayed program that copies one writes what was recorded.
 */
export class Redactor {
  /** By their digests: what is kept as long as the process lives must hold no secret. */
  readonly #numbers = new Map<string, number>();
  /** What a replayed program made itself, to be given back to it. */
  readonly #own: Map<string, string> | undefined;
  #last = 0;

  /** `remembers`: secrets are kept, so that `reveal` finds them; never where they are real. */
  constructor({ remembers = false }: { readonly remembers?: boolean } = {}) {
    this.#own = remembers ? new Map() : undefined;
  }

  redact(value: unknown, { isSecret = false, isBuiltin = false }: RedactionSubject = {}): unknown {
    return this.#redact(value, { isSecret, isBuiltin, at: "", isInList: false });
  }

  /** Looks at what is redacted already, so that new secrets get the numbers after it. */
  note(value: unknown): void {
    if (typeof value === "string") this.#noteText(value);
    else if (typeof value === "object" && value !== null && !(value instanceof Uint8Array))
      for (const each of Object.values(value)) this.note(each);
  }

  #noteText(text: string): void {
    const plain = text.length <= encodedLengthMax ? (decoded(text) ?? text) : text;
    const redacted = redactedPattern.exec(text) ?? redactedPattern.exec(plain);
    if (redacted !== null) this.#last = Math.max(this.#last, Number(redacted[1]));
  }

  /** Puts back the secrets that this redactor has taken out, for the program that made them. */
  reveal(value: unknown): unknown {
    if (typeof value === "string") return this.#own?.get(value) ?? value;
    if (Array.isArray(value)) return value.map((each) => this.reveal(each));
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.reveal(each)]));
  }

  #redact(value: unknown, place: Place): unknown {
    // What is redacted already is looked at too, for its number.
    if (typeof value === "string")
      return redactedPattern.test(value) || isSecretText(value) ? this.#placeholder(value) : value;
    if (value instanceof Uint8Array) return place.isSecret ? this.#placeholder(String(value)) : value;
    if (Array.isArray(value)) return this.#redactList(value, { ...place, isInList: true });
    if (typeof value !== "object" || value === null) return value;
    return this.#redactObject(value as Readonly<Record<string, unknown>>, place);
  }

  #redactList(items: readonly unknown[], place: Place): readonly unknown[] {
    return items.map((each, index) =>
      typeof each === "string" && isSecretFlag(items[index - 1]) ? this.#placeholder(each) : this.#redact(each, place),
    );
  }

  #redactObject(object: Readonly<Record<string, unknown>>, outer: Place): Record<string, unknown> {
    const { kind, name } = object;
    const isSecret = outer.isSecret || kind === "Secret" || kind === "SecretList";
    const isBuiltin = isBuiltinObject(object) ?? outer.isBuiltin;
    const isTelling = (typeof name === "string" && isSecretVariable(name)) || isTellingPatch(object["path"]);
    const isOnlyWhere = isBuiltin || isReference(object, outer.at, outer.isInList);
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(object)) {
      // Entries of a ConfigMap and annotations are named by users.
      const place: Place = { isSecret, at: key, isInList: false, isBuiltin: isBuiltin && !namedByUsers.has(key) };
      if (isSecret && (key === "data" || key === "stringData")) copy[key] = this.#redactAll(value, key === "data");
      // Of a JSON patch, too.
      else if ((isTelling || isSecret) && key === "value") copy[key] = this.#redactAll(value, isSecret);
      else if (isSecret && key === lastApplied) copy[key] = this.#placeholder(String(value));
      else if (isSecretField(key) || (!isOnlyWhere && isPlainSecretField(key)))
        copy[key] = this.#redactField(value, place);
      else copy[key] = serverFields.has(key) && typeof value === "string" ? value : this.#redact(value, place);
    }
    return copy;
  }

  /** Text is the secret; an object only says where it is. */
  #redactField(value: unknown, place: Place): unknown {
    if (typeof value === "string") return this.#placeholder(value);
    if (!Array.isArray(value)) return this.#redact(value, place);
    return value.map((each: unknown) => this.#redactField(each, { ...place, isInList: true }));
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
    if (redactedPattern.test(secret)) {
      this.#noteText(secret);
      return secret;
    }
    const digest = sha256(secret);
    const number = this.#numbers.get(digest) ?? ++this.#last;
    this.#numbers.set(digest, number);
    const placeholder = `redacted-${number}`;
    this.#own?.set(placeholder, secret);
    if (isOneByte.test(secret)) this.#own?.set(btoa(placeholder), btoa(secret));
    return placeholder;
  }
}

/** Of a placeholder in base64, with the number that a secret of a long recording has. */
const encodedLengthMax = 28;
/** What the server writes for itself only looks random. */
const serverFields: ReadonlySet<string> = new Set(["continue", "kubernetes.io/initial-events-list-blueprint"]);
const namedByUsers: ReadonlySet<string> = new Set(["data", "annotations"]);
/** What `btoa` takes. */
// oxlint-disable-next-line no-control-regex
const isOneByte = /^[\u0000-\u00ff]*$/;

/** By its group; undefined when the object has none of its own. */
function isBuiltinObject({ apiVersion, kind }: Readonly<Record<string, unknown>>): boolean | undefined {
  if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
  return isBuiltinGroup(apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "");
}

/** `apps`, `rbac.authorization.k8s.io`: groups of others have a dot and another end. */
export function isBuiltinGroup(group: string): boolean {
  return !group.includes(".") || group.endsWith(".k8s.io");
}

/** An operation of a JSON patch whose target's name tells. */
function isTellingPatch(path: unknown): boolean {
  if (typeof path !== "string" || !path.startsWith("/")) return false;
  const field = path.slice(path.lastIndexOf("/") + 1);
  return isSecretField(field) || isPlainSecretField(field);
}

function decoded(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}

/** The recorder remembers the digest of a secret, not the secret. */
function sha256(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}
