/**
 * The rules for names, labels and keys, with upstream's messages. Each function returns the errors; an empty
 * list means valid.
 */

/** Characters of a DNS label (RFC 1123): names of namespaces, Services and ports. */
export const dns1123LabelLengthMax = 63;
/** Characters of a DNS subdomain (RFC 1123): the names of most objects. */
export const dns1123SubdomainLengthMax = 253;
/** Characters of a label's value. */
export const labelValueLengthMax = 63;
const qualifiedNameLengthMax = 63;

const labelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`;
const label1035Format = "[a-z]([-a-z0-9]*[a-z0-9])?";
const nameFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelValueFormat = `(${nameFormat})?`;
const configKeyFormat = "[-._a-zA-Z0-9]+";

// These expressions have no nested repetition over the same characters except through a literal dot, so they
// run in linear time, and every caller checks the length too.
const labelPattern = new RegExp(`^${labelFormat}$`);
const subdomainPattern = new RegExp(`^${subdomainFormat}$`);
const label1035Pattern = new RegExp(`^${label1035Format}$`);
const namePattern = new RegExp(`^${nameFormat}$`);
const labelValuePattern = new RegExp(`^${labelValueFormat}$`);
const configKeyPattern = new RegExp(`^${configKeyFormat}$`);

const nameRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

function regexFault(message: string, format: string, ...examples: readonly string[]): string {
  return `${message} (e.g. ${examples.map((each) => `'${each}', `).join(" or ")}regex used for validation is '${format}')`;
}

/** Upstream counts bytes; of the names of objects it calls them characters. */
function lengthFault(length: number, unit: "bytes" | "characters" = "bytes"): string {
  return `must be no more than ${length} ${unit}`;
}

function byteLength(text: string): number {
  return isAscii(text) ? text.length : encodedLength(text);
}

/** As nearly every name is. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) >= 0x80) return false;
  return true;
}

function encodedLength(text: string): number {
  let length = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    length += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return length;
}

/** Faults of a DNS-1123 label (names of namespaces and services' pods). */
export function validateDns1123Label(value: string): readonly string[] {
  const faults: string[] = [];
  if (byteLength(value) > dns1123LabelLengthMax) faults.push(lengthFault(dns1123LabelLengthMax, "characters"));
  if (labelPattern.test(value)) return faults;
  if (subdomainPattern.test(value)) return [...faults, "must not contain dots"];
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...faults, regexFault(rule, labelFormat, "my-name", "123-abc")];
}

/** Faults of a DNS-1123 subdomain (names of most objects). */
export function validateDns1123Subdomain(value: string): readonly string[] {
  return subdomainFaults(value, "characters");
}

function subdomainFaults(value: string, unit: "bytes" | "characters"): readonly string[] {
  const faults: string[] = [];
  if (byteLength(value) > dns1123SubdomainLengthMax) faults.push(lengthFault(dns1123SubdomainLengthMax, unit));
  if (subdomainPattern.test(value)) return faults;
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...faults, regexFault(rule, subdomainFormat, "example.com")];
}

/** Faults of a DNS-1035 label (names of services). */
export function validateDns1035Label(value: string): readonly string[] {
  const faults: string[] = [];
  if (byteLength(value) > dns1123LabelLengthMax) faults.push(lengthFault(dns1123LabelLengthMax, "characters"));
  if (label1035Pattern.test(value)) return faults;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...faults, regexFault(rule, label1035Format, "my-name", "abc-123")];
}

/** Faults of a name that only has to fit into a URL (RBAC kinds). */
export function validatePathSegment(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`);
}

/**
 * Faults of a qualified name: `name` or `example.com/name`. Label keys, annotation keys and finalizers are
 * such names.
 */
export function validateQualifiedName(value: string): readonly string[] {
  const parts = value.split("/");
  if (parts.length > 2) {
    const fault = regexFault(nameRule, nameFormat, "MyName", "my.name", "123-abc");
    return [`a valid label key ${fault} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const name = parts.at(-1) ?? "";
  const faults = prefixFaults(prefix).map((fault) => `prefix part ${fault}`);
  if (name === "") faults.push("name part must be non-empty");
  else if (byteLength(name) > qualifiedNameLengthMax) faults.push(`name part ${lengthFault(qualifiedNameLengthMax)}`);
  if (!namePattern.test(name)) {
    faults.push(`name part ${regexFault(nameRule, nameFormat, "MyName", "my.name", "123-abc")}`);
  }
  return faults;
}

function prefixFaults(prefix: string | undefined): readonly string[] {
  if (prefix === undefined) return [];
  return prefix === "" ? ["must be non-empty"] : subdomainFaults(prefix, "bytes");
}

/** Faults of a label's value. */
export function validateLabelValue(value: string): readonly string[] {
  const faults: string[] = [];
  if (byteLength(value) > labelValueLengthMax) faults.push(lengthFault(labelValueLengthMax));
  if (labelValuePattern.test(value)) return faults;
  const rule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`;
  return [...faults, regexFault(rule, labelValueFormat, "MyValue", "my_value", "12345")];
}

/** Faults of a key of a ConfigMap's or Secret's data. */
export function validateConfigKey(value: string): readonly string[] {
  const faults: string[] = [];
  if (byteLength(value) > dns1123SubdomainLengthMax) {
    faults.push(`must be no more than ${dns1123SubdomainLengthMax} characters`);
  }
  if (!configKeyPattern.test(value)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    faults.push(regexFault(rule, configKeyFormat, "key.name", "KEY_NAME", "key-name"));
  } else if (value === "." || value === "..") faults.push(`must not be '${value}'`);
  else if (value.startsWith("..")) faults.push("must not start with '..'");
  return faults;
}
