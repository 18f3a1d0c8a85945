import type { LabelSelectorExpression, LabelSelectorObject } from "@setpoint/apimachinery";

type Labels = Readonly<Record<string, string>>;

/**
 * Whether labels match a selector object; an absent selector matches nothing. It is asked for every selector of a namespace whenever a pod
 * changes, and users choose how long selectors are: so it stops at the first requirement that does not hold, and prepares nothing.
 */
export function matchesLabelSelector(selector: LabelSelectorObject | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  for (const key in matchLabels) if (valueOf(labels, key) !== matchLabels[key]) return false;
  return matchExpressions.every((expression) => holds(expression, valueOf(labels, expression.key)));
}

function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function holds({ operator, values = [] }: LabelSelectorExpression, value: string | undefined): boolean {
  switch (operator) {
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
