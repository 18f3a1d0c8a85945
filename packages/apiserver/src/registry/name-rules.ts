/** What names may be; the checks are by character code because they run on every write. */
import type { Strategy } from "./resource-definition.ts";

type NameRule = NonNullable<Strategy["nameRule"]>;

const labelLengthMax = 63;
const subdomainLengthMax = 253;

function isLowerAlphanumeric(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

/** `[a-z0-9]([-a-z0-9]*[a-z0-9])?` */
export function isDns1123Label(value: string): boolean {
  const last = value.length - 1;
  if (last < 0) return false;
  for (let index = 0; index <= last; index++) {
    const code = value.charCodeAt(index);
    if (isLowerAlphanumeric(code)) continue;
    if (code !== 45 || index === 0 || index === last) return false;
  }
  return true;
}

export function isDns1123Subdomain(value: string): boolean {
  return value.includes(".") ? value.split(".").every(isDns1123Label) : isDns1123Label(value);
}

function isDns1035Label(value: string): boolean {
  const first = value.charCodeAt(0);
  return first >= 97 && first <= 122 && isDns1123Label(value);
}

const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const label1035Message =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with a name, in the words of apimachinery; nothing when it is right. */
export function nameProblems(rule: NameRule, name: string): readonly string[] {
  if (rule === "pathSegment") return pathSegmentProblems(name);
  const isLabel = rule !== "subdomain";
  const limit = isLabel ? labelLengthMax : subdomainLengthMax;
  const problems: string[] = [];
  if (name.length > limit) problems.push(`must be no more than ${limit} characters`);
  if (rule === "subdomain" && !isDns1123Subdomain(name)) problems.push(subdomainMessage);
  else if (rule === "label" && !isDns1123Label(name)) problems.push(labelMessage);
  else if (rule === "label1035" && !isDns1035Label(name)) problems.push(label1035Message);
  return problems;
}

function pathSegmentProblems(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  const problems: string[] = [];
  for (const illegal of ["/", "%"]) if (name.includes(illegal)) problems.push(`may not contain '${illegal}'`);
  return problems;
}

const qualifiedNameMessage =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueMessage =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function isNameCharacters(value: string): boolean {
  const last = value.length - 1;
  for (let index = 0; index <= last; index++) {
    const code = value.charCodeAt(index);
    if (isLowerAlphanumeric(code) || (code >= 65 && code <= 90)) continue;
    const isInner = code === 45 || code === 95 || code === 46;
    if (!isInner || index === 0 || index === last) return false;
  }
  return last >= 0;
}

/** The keys of labels and annotations, and finalizers: an optional DNS prefix and a name. */
export function qualifiedNameProblems(value: string): readonly string[] {
  const slash = value.indexOf("/");
  const problems: string[] = [];
  const name = value.slice(slash + 1);
  if (slash !== -1) {
    const prefix = value.slice(0, slash);
    if (name.includes("/")) {
      return [
        "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
          "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      ];
    }
    if (prefix === "") problems.push("prefix part must be non-empty");
    else if (!isDns1123Subdomain(prefix)) problems.push(`prefix part ${subdomainMessage}`);
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > labelLengthMax) problems.push(`name part must be no more than ${labelLengthMax} characters`);
  if (!isNameCharacters(name)) problems.push(qualifiedNameMessage);
  return problems;
}

export function labelValueProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (value.length > labelLengthMax) problems.push(`must be no more than ${labelLengthMax} characters`);
  if (value !== "" && !isNameCharacters(value)) problems.push(labelValueMessage);
  return problems;
}
