/** Which fields, variables and flags hold a secret, told by their names. */

/**
 * Fields that hold a secret wherever they stand, by the end of their name: `dbPassword`, `client_secret`,
 * `api_key`.
 */
const telling = new RegExp(
  `(?:${[
    "pass(?:word|wd|phrase|code|key)s?",
    "pwd",
    "tokens?",
    "bearer",
    "credentials?",
    "authorization",
    "connection[._-]?strings?",
    "dsn",
    "(?:client|consumer|app|shared|jwt|hmac|cookie|session|signing|webhook|oauth2?)[._-]?secrets?",
    "(?:api|auth|access|secret|private|encryption|decryption|signing|account|master|shared|ssh|license|hmac)[._-]?keys?",
    "client-?key-?data",
  ].join("|")})$`,
  "i",
);
/** `dbPass`, `DB_PASS`: the end of a word alone would be too much (`bypass`). */
const passField = /(?:^|[._-])(?:pass|PASS|Pass)$|[a-z]Pass$/;
/** Nothing but this may also be a reference (`secretKeyRef`) or a selector's key. */
const plainField = /(?:^|[./])(?:secret|key)s?$/i;
const variable =
  /pass(?:word|wd|phrase)?|pwd|secret|token|credential|bearer|(?:^|_)dsn$|connection_?string|_key$|^key$|(?:api|private|access)_?key/i;
const flag = /^--?[\w-]*(?:password|passwd|passphrase|secret|token|credentials?|(?:api|access|private)-?key)$/i;

export function isSecretField(name: string): boolean {
  return telling.test(name) || passField.test(name);
}

export function isPlainSecretField(name: string): boolean {
  return plainField.test(name);
}

export function isSecretVariable(name: string): boolean {
  return variable.test(name);
}

/** `--password`, whose value is the next argument. */
export function isSecretFlag(argument: unknown): boolean {
  return typeof argument === "string" && flag.test(argument);
}

/** What stands beside the key of a selector's requirement, a toleration, a taint, a projected entry. */
const besideKey: ReadonlySet<string> = new Set([
  "operator",
  "effect",
  "path",
  "optional",
  "valueExpression",
  "timeAdded",
]);
const referenceFields: ReadonlySet<string> = new Set(["name", "key", "namespace", "optional", "default", "property"]);
/** Fields whose objects say where something is. */
const referring =
  /(?:refs?|references?|selectors?|matchExpressions|tolerations|taints|items|secrets?|configMaps?|secretKeys?|valueFrom)$/i;

/**
 * Whether an object's `key` or `secret` says where a value is, not what it is. `at`: the field that holds the
 * object.
 */
export function isReference(object: Readonly<Record<string, unknown>>, at: string, isInList: boolean): boolean {
  const fields = Object.keys(object);
  if (fields.some((field) => besideKey.has(field))) return true;
  if (referring.test(at)) return true;
  // As `username: { name: "db", key: "user" }`, in which nothing but a reference fits.
  return !isInList && fields.includes("name") && fields.every((field) => referenceFields.has(field));
}
