/** Whether a LabelSelector of the API matches labels. */
import { isJsonObject, objectAt, objectsAt, stringAt } from "../json-fields.ts";

export function matchesLabels(selector: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  for (const [name, value] of Object.entries(objectAt(selector, "matchLabels")))
    if (labels[name] !== value) return false;
  return objectsAt(selector, "matchExpressions").every((expression) => matchesExpression(expression, labels));
}

function matchesExpression(expression: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  const key = stringAt(expression, "key");
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const values = isJsonObject(expression) && Array.isArray(expression["values"]) ? expression["values"] : [];
  switch (stringAt(expression, "operator")) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
