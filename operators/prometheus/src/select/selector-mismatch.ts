/** Which parts of a label selector some labels do not meet, and what they have instead; pure. */
import type { Selector } from "../kind/scrape-fields.ts";

/** One sentence for each part, such as `label "team" is "backend", expected "frontend"`; none for a match. */
export function selectorMismatches(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Readonly<Record<string, string>> = {},
): readonly string[] {
  const wrong = Object.entries(matchLabels).filter(([key, value]) => labels[key] !== value);
  return [
    ...wrong.map(([key, value]) => `label "${key}" is ${stateOf(labels[key])}, expected "${value}"`),
    ...matchExpressions.flatMap((expression) => expressionMismatch(expression, labels)),
  ];
}

type Expression = NonNullable<Selector["matchExpressions"]>[number];

function expressionMismatch(
  { key, operator, values = [] }: Expression,
  labels: Readonly<Record<string, string>>,
): readonly string[] {
  const value = labels[key];
  const quoted = values.map((each) => `"${each}"`).join(", ");
  const is = `label "${key}" is ${stateOf(value)}`;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value) ? [] : [`${is}, expected one of ${quoted}`];
    case "NotIn":
      return value !== undefined && values.includes(value) ? [`${is}, expected none of ${quoted}`] : [];
    case "Exists":
      return value === undefined ? [`${is}, expected any value`] : [];
    case "DoesNotExist":
      return value === undefined ? [] : [`${is}, expected no such label`];
    default:
      return [];
  }
}

function stateOf(value: string | undefined): string {
  return value === undefined ? "absent" : `"${value}"`;
}
