import { groupResource } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";
import type { PolicyRule } from "./policy-rule.ts";

/** The verbs with which a controller changes its children; `patch` includes apply. */
export type WriteVerb = "create" | "patch" | "delete";

const reading = ["get", "list", "watch"];
const writing: readonly WriteVerb[] = ["create", "patch", "delete"];

/**
 * What a set of controllers must be allowed, derived from what they declare; one rule a resource. Of
 * `more` it takes what the others do not allow, so that a role grants each right once.
 */
export function rulesOf(
  controllers: readonly ControllerDefinition[],
  writes: ReadonlyMap<KindRef, readonly WriteVerb[]>,
  more: readonly PolicyRule[],
): readonly PolicyRule[] {
  const rules = new RuleTable();
  for (const { kind, owns, watches, hasCleanup, keepsLedger } of controllers) {
    rules.allow(kind, "", hasCleanup || keepsLedger ? [...reading, "patch"] : reading);
    rules.allow(kind, "status", ["patch"]);
    // Owner references that block deletion need it where OwnerReferencesPermissionEnforcement is on.
    if (owns.length > 0) rules.allow(kind, "finalizers", ["update"]);
    for (const each of owns) rules.allow(each, "", [...reading, ...(writes.get(each) ?? writing)]);
    for (const each of watches) rules.allow(each.of, "", reading);
  }
  return [
    ...rules.list(),
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    ...more.flatMap((rule) => rules.missing(rule)),
  ];
}

/** What leader election needs, in the operator's own namespace. `create` cannot be limited to a name. */
export function leaseRules(name: string, isSharded: boolean): readonly PolicyRule[] {
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  // Each member has a Lease of its own, whose name nobody can know before.
  if (isSharded) return [{ ...leases, verbs: ["get", "list", "create", "update", "delete"] }];
  return [
    { ...leases, verbs: ["create"] },
    { ...leases, resourceNames: [name], verbs: ["get", "update"] },
  ];
}

class RuleTable {
  readonly #verbs = new Map<
    string,
    { readonly group: string; readonly resource: string; readonly verbs: Set<string> }
  >();

  allow(kind: KindRef, subresource: string, verbs: readonly string[]): void {
    const resource = subresource === "" ? kind.plural : `${kind.plural}/${subresource}`;
    const key = groupResource({ group: kind.group, resource });
    const entry = this.#verbs.get(key) ?? { group: kind.group, resource, verbs: new Set() };
    for (const verb of verbs) entry.verbs.add(verb);
    this.#verbs.set(key, entry);
  }

  /** The rule with the verbs that nothing allows yet; nothing when there are none. */
  missing(rule: PolicyRule): readonly PolicyRule[] {
    const { apiGroups = [], resources = [] } = rule;
    const keys = apiGroups.flatMap((group) => resources.map((resource) => groupResource({ group, resource })));
    const isAllowed = (verb: string): boolean => keys.every((key) => this.#verbs.get(key)?.verbs.has(verb) === true);
    const verbs = keys.length === 0 ? rule.verbs : rule.verbs.filter((verb) => !isAllowed(verb));
    return verbs.length === 0 ? [] : [{ ...rule, verbs }];
  }

  list(): readonly PolicyRule[] {
    return [...this.#verbs.values()].map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [...verbs],
    }));
  }
}
