/** One condition of a label selector. */
import { validateQualifiedName, validateLabelValue } from "./names.ts";

/**
 * The operators of apimachinery's label selectors. `=` and `==` mean the same; `!` requires that the key is
 * absent.
 */
export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

/**
 * One condition on one label key. `createLabelRequirement` checks it; literals of this type are not checked.
 */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted and unique; empty for `exists` and `!`. */
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

const integerPattern = /^[+-]?\d+$/;

/** A requirement, checked. Errors: `Error` in upstream's words when key, operator or values do not fit. */
export function createLabelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  const faults = [...keyFaults(key, "key"), ...countFaults(operator, values), ...valueFaults(key, values)];
  if (faults.length === 1) throw new Error(faults[0]);
  if (faults.length > 1) throw new Error(`[${faults.join(", ")}]`);
  return { key, operator, values: [...new Set(values)].sort() };
}

/** The faults of a key, under the path at which upstream reports it. */
export function keyFaults(key: string, path: string): readonly string[] {
  const faults = validateQualifiedName(key);
  return faults.length === 0 ? [] : [`${path}: Invalid value: ${JSON.stringify(key)}: ${faults.join("; ")}`];
}

function countFaults(operator: LabelOperator, values: readonly string[]): readonly string[] {
  const fault = (text: string): readonly string[] => [`values: Invalid value: ${JSON.stringify(values)}: ${text}`];
  if (operator === "in" || operator === "notin") {
    return values.length === 0 ? fault("for 'in', 'notin' operators, values set can't be empty") : [];
  }
  if (operator === "exists" || operator === "!") {
    return values.length > 0 ? fault("values set must be empty for exists and does not exist") : [];
  }
  if (operator !== "gt" && operator !== "lt") {
    return values.length === 1 ? [] : fault("exact-match compatibility requires one single value");
  }
  const count = values.length === 1 ? [] : fault("for 'Gt', 'Lt' operators, exactly one value is required");
  const text = "for 'Gt', 'Lt' operators, the value must be an integer";
  const wrong = values.flatMap((value, index) =>
    integerPattern.test(value) ? [] : [`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${text}`],
  );
  return [...count, ...wrong];
}

function valueFaults(key: string, values: readonly string[]): readonly string[] {
  return values.flatMap((value, index) => {
    const faults = validateLabelValue(value);
    if (faults.length === 0) return [];
    return [`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${faults.join("; ")}`];
  });
}

/** Whether labels satisfy one requirement. A missing label satisfies `!=` and `notin`. */
export function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === "!") return value === undefined;
  if (operator === "exists") return value !== undefined;
  if (operator === "!=" || operator === "notin") return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator !== "gt" && operator !== "lt") return values.includes(value);
  if (!integerPattern.test(value)) return false;
  const [left, right] = [BigInt(value.replace("+", "")), BigInt((values[0] ?? "0").replace("+", ""))];
  return operator === "gt" ? left > right : left < right;
}

const symbols: Readonly<Record<LabelOperator, string>> = {
  "=": "=",
  "==": "==",
  "!=": "!=",
  in: " in ",
  notin: " notin ",
  gt: ">",
  lt: "<",
  exists: "",
  "!": "",
};

/** The requirement in the string form. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === "!") return `!${key}`;
  const list = values.join(",");
  return `${key}${symbols[operator]}${operator === "in" || operator === "notin" ? `(${list})` : list}`;
}
