/** Formats by name: `!format.dns1123Label().validate(self.name).hasValue()`. */
import {
  lookupTable,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedName,
} from "@setpoint/apimachinery";
import { hasFormat } from "../../string-format.ts";
import { traversal } from "../cost.ts";
import { member, plain, type Cost, type Library } from "../overload.ts";
import { CelOpaque, CelOptional, PlainList, sizeOf, type Value } from "../value.ts";
import { none } from "./optionals.ts";

const kind = "kubernetes.NamedFormat";

type Problems = (text: string) => readonly string[];

class CelFormat extends CelOpaque {
  readonly typeName = kind;
  readonly name: string;
  readonly problemsOf: Problems;

  constructor(name: string, problemsOf: Problems) {
    super();
    this.name = name;
    this.problemsOf = problemsOf;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }
}

/** A prefix may end in a dash, because more follows. */
function ofPrefix(problemsOf: Problems): Problems {
  return (text) => problemsOf(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

function ofFormat(format: string, problem: string): Problems {
  return (text) => (hasFormat(format, text) ? [] : [problem]);
}

function uriProblems(text: string): readonly string[] {
  return hasFormat("uri", text)
    ? []
    : [`parse ${JSON.stringify(text)}: ${text === "" ? "empty url" : "invalid URI for request"}`];
}

const formats: Readonly<Record<string, CelFormat>> = lookupTable({
  dns1123Label: new CelFormat("DNS1123Label", validateDns1123Label),
  dns1123Subdomain: new CelFormat("DNS1123Subdomain", validateDns1123Subdomain),
  dns1035Label: new CelFormat("DNS1035Label", validateDns1035Label),
  qualifiedName: new CelFormat("QualifiedName", validateQualifiedName),
  dns1123LabelPrefix: new CelFormat("DNS1123LabelPrefix", ofPrefix(validateDns1123Label)),
  dns1123SubdomainPrefix: new CelFormat("DNS1123SubdomainPrefix", ofPrefix(validateDns1123Subdomain)),
  dns1035LabelPrefix: new CelFormat("DNS1035LabelPrefix", ofPrefix(validateDns1035Label)),
  labelValue: new CelFormat("LabelValue", validateLabelValue),
  uri: new CelFormat("URI", uriProblems),
  uuid: new CelFormat("uuid", ofFormat("uuid", "does not match the UUID format")),
  byte: new CelFormat("byte", ofFormat("byte", "invalid base64")),
  date: new CelFormat("date", ofFormat("date", "invalid date")),
  datetime: new CelFormat("datetime", ofFormat("datetime", "invalid datetime")),
});

function validate(format: Value, text: string): Value {
  const problems = format instanceof CelFormat ? format.problemsOf(text) : [];
  return problems.length === 0 ? none : new CelOptional(new PlainList(problems));
}

function named(name: string): Value {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return format === undefined ? none : new CelOptional(format);
}

/** Formats are patterns; they are taken to be this long. */
const patternLength = 60;
const checksFormat: Cost = ([, text = null]) => traversal(1 + sizeOf(text)) * Math.ceil(patternLength / 4);

export const namedFormats: Library = {
  validate: [member([kind, "string"], "optional(list(string))", validate, checksFormat)],
  "format.named": [plain(["string"], `optional(${kind})`, named)],
  ...Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [`format.${name}`, [plain([], kind, () => format)]]),
  ),
};
