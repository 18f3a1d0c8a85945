import { baselineChecks } from "./baseline-checks.ts";
import type { SecurityPolicy } from "./namespace-policy.ts";
import { restrictedChecks } from "./restricted-checks.ts";
import { checkedPod, type SecurityCheck, type Violation } from "./security-check.ts";

/** What keeps a pod, or the template of one, out of a level, in upstream's order; empty when nothing does. */
export function evaluatePod({ level, minor }: SecurityPolicy, pod: unknown): readonly Violation[] {
  if (level === "privileged") return [];
  const checked = checkedPod(pod);
  const checks = checksOf(level, minor);
  return checks.flatMap((each) => each.check(checked, minor) ?? []);
}

function checksOf(level: SecurityPolicy["level"], minor: number): readonly SecurityCheck[] {
  const known = (each: SecurityCheck): boolean => each.since <= minor;
  const baseline = baselineChecks.filter(known);
  if (level === "baseline") return baseline;
  const restricted = restrictedChecks.filter(known);
  const overridden = new Set(restricted.flatMap(({ overrides = [] }) => overrides));
  return [...baseline.filter(({ id }) => !overridden.has(id)), ...restricted];
}

/** `privileged (container "a" must not …), hostPort (…)`. */
export function violationsText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
}
