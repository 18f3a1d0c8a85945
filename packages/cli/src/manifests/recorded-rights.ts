import { RecordedUse, type FlightEntry, type UsedRight } from "@setpoint/client";
import type { Operator } from "setpoint";
import { onlyUsedRights, rightsOf, unusedRights, withUsedRights, type PolicyRule, type Right } from "setpoint/install";

/** The rights that a recorded operator needed. */
export function recordedRights(entries: readonly FlightEntry[]): readonly UsedRight[] {
  const use = new RecordedUse();
  const requests = new Map(entries.flatMap((entry) => (entry.kind === "request" ? [[entry.n, entry.request]] : [])));
  for (const entry of entries) {
    if (entry.kind !== "object" && entry.kind !== "stream") continue;
    const request = requests.get(entry.n);
    if (request !== undefined) use.add(request, entry.status);
  }
  return use.rights;
}

export interface RecordedRules {
  readonly rules: readonly PolicyRule[];
  /** `delete configmaps`: declared, and not needed in the recording. */
  readonly unused: readonly string[];
}

/**
 * The operator's declared rules, with what it used without declaring it. A recording shows what was needed,
 * not what may be: what it does not show stays, unless `onlyUsed`.
 */
export function rulesWithRecording(operator: Operator, used: readonly UsedRight[], onlyUsed: boolean): RecordedRules {
  const declared = onlyUsed ? onlyUsedRights(operator.rules, used) : operator.rules;
  const left = new Set(declared.flatMap((rule) => rightsOf([rule])).map(nameOf));
  // With `onlyUsed`, what is left out; else what could be.
  const unused = unusedRights(operator.rules, used).filter((right) => !onlyUsed || !left.has(nameOf(right)));
  return {
    rules: withUsedRights(declared, used),
    unused: unused.map(nameOf),
  };
}

function nameOf({ verb, resource, group }: Right): string {
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}
