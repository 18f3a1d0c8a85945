/** Checks the fields of validation rules; the rule compiler checks their expressions. */
import type { FieldError } from "@setpoint/apimachinery";
import type { StructuralSchema, ValidationRule } from "@setpoint/schema";
import { invalidValue, notSupported, required } from "../field-errors.ts";
import { schemaAt } from "./crd-version-validation.ts";

const reasons: readonly string[] = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** The errors of the rules of one node. */
export function validateRules(node: StructuralSchema, path: string): readonly FieldError[] {
  const rules = node["x-kubernetes-validations"] ?? [];
  return rules.flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    return [...textErrors(rule, at), ...optionErrors(rule, node, at)];
  });
}

function textErrors({ rule = "", message = "" }: Partial<ValidationRule>, at: string): readonly FieldError[] {
  if (rule.trim() === "") return [required(`${at}.rule`, "rule is not specified")];
  if (message !== "" && message.trim() === "")
    return [invalidValue(`${at}.message`, message, "must be non-empty if specified")];
  if (hasLineBreak(message.trim())) return [invalidValue(`${at}.message`, message, "must not contain line breaks")];
  if (hasLineBreak(rule.trim()) && message.trim() === "")
    return [required(`${at}.message`, "message must be specified if rule contains line breaks")];
  return [];
}

function optionErrors(rule: ValidationRule, node: StructuralSchema, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { messageExpression = "", reason, fieldPath = "" } = rule;
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${at}.reason`, reason, reasons));
  if (fieldPath === "") return errors;
  const field = `${at}.fieldPath`;
  if (fieldPath.trim() === "") errors.push(invalidValue(field, fieldPath, "must be non-empty if specified"));
  if (hasLineBreak(fieldPath)) errors.push(invalidValue(field, fieldPath, "must not contain line breaks"));
  if (schemaAt(node, fieldPath) === undefined) errors.push(invalidValue(field, fieldPath, "must be a valid path"));
  return errors;
}
