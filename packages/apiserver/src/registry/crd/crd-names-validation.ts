/** Checks of the names of a CustomResourceDefinition. */
import type { FieldError } from "@setpoint/apimachinery";
import { invalidValue, required } from "../field-errors.ts";
import type { CrdNames } from "./crd-object.ts";

const labelPattern = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const labelLengthMax = 63;
const labelDetail =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Why a text is no DNS-1035 label, undefined when it is one. */
export function label1035Problem(text: string): string | undefined {
  const problems: string[] = [];
  if (text.length > labelLengthMax) problems.push(`must be no more than ${labelLengthMax} characters`);
  if (!labelPattern.test(text)) problems.push(labelDetail);
  return problems.length === 0 ? undefined : problems.join(",");
}

function labelErrors(field: string, text: string): readonly FieldError[] {
  const problem = label1035Problem(text);
  return problem === undefined ? [] : [invalidValue(field, text, problem)];
}

function kindErrors(field: string, kind: string): readonly FieldError[] {
  const problem = label1035Problem(kind.toLowerCase());
  if (problem === undefined) return [];
  return [invalidValue(field, kind, `may have mixed case, but should otherwise match: ${problem}`)];
}

export function validateNames(names: CrdNames, path: string): readonly FieldError[] {
  const { plural, singular = "", kind, listKind = "" } = names;
  const fields = Object.entries({ plural, singular, kind, listKind });
  const errors = fields.filter(([, value]) => value === "").map(([field]) => required(`${path}.${field}`));
  if (plural !== "") errors.push(...labelErrors(`${path}.plural`, plural));
  if (singular !== "") errors.push(...labelErrors(`${path}.singular`, singular));
  if (kind !== "") errors.push(...kindErrors(`${path}.kind`, kind));
  if (listKind !== "") errors.push(...kindErrors(`${path}.listKind`, listKind));
  errors.push(...(names.shortNames ?? []).flatMap((name, index) => labelErrors(`${path}.shortNames[${index}]`, name)));
  if (kind !== "" && kind === listKind)
    errors.push(invalidValue(`${path}.listKind`, listKind, "kind and listKind may not be the same"));
  errors.push(...(names.categories ?? []).flatMap((name, index) => labelErrors(`${path}.categories[${index}]`, name)));
  return errors;
}
