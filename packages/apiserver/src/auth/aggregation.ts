/** The label selectors of aggregated cluster roles. */
import type { UnstructuredObject } from "@setpoint/apimachinery";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export function readLabelSelectors(role: UnstructuredObject): readonly (readonly LabelRequirement[])[] {
  const rule = role["aggregationRule"];
  if (typeof rule !== "object" || rule === null) return [];
  const { clusterRoleSelectors } = rule as { readonly clusterRoleSelectors?: unknown };
  return Array.isArray(clusterRoleSelectors) ? clusterRoleSelectors.map(readSelector) : [];
}

interface RawSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

function readSelector(selector: RawSelector): readonly LabelRequirement[] {
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => {
    return { key, operator: "In", values: [value] };
  });
  return [...exact, ...(selector.matchExpressions ?? [])];
}

export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    const isIn = value !== undefined && values.includes(value);
    return operator === "In" ? isIn : !isIn;
  });
}
