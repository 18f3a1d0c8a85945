/** Rules taken apart into single rights, so that what is wanted, granted and used can be compared. */
import type { UsedRight } from "@setpoint/client";
import type { PolicyRule } from "../policy-rule.ts";

/** One verb on one resource. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/exec`. */
  readonly resource: string;
  /** Absent: objects of any name. */
  readonly name?: string;
}

/** The rights that rules give; those on paths that are no resource are left out. */
export function rightsOf(rules: readonly PolicyRule[]): readonly Right[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          resourceNames.length === 0
            ? [{ verb, group, resource }]
            : resourceNames.map((name) => ({ verb, group, resource, name })),
        ),
      ),
    ),
  );
}

/** Whether a rule gives a right, by the rules of Kubernetes' own authorizer. */
export function isGiven({ verb, group, resource, name }: Right, rule: PolicyRule): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (!hasOrAll(verbs, verb) || !hasOrAll(apiGroups, group)) return false;
  const [, subresource] = resource.split("/");
  const isOfResource =
    hasOrAll(resources, resource) || (subresource !== undefined && resources.includes(`*/${subresource}`));
  return isOfResource && (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)));
}

function hasOrAll(list: readonly string[], wanted: string): boolean {
  return list.includes(wanted) || list.includes("*");
}

/** The wanted rights that no rule gives. */
export function missingRights(wanted: readonly PolicyRule[], granted: readonly PolicyRule[]): readonly Right[] {
  return rightsOf(wanted).filter((right) => !granted.some((rule) => isGiven(right, rule)));
}

/** The declared rights that were never used. */
export function unusedRights(declared: readonly PolicyRule[], used: readonly UsedRight[]): readonly Right[] {
  const isUsed = (right: Right): boolean =>
    used.some((use) => isGiven({ ...right, verb: use.verb, group: use.group, resource: use.resource }, ruleOf(right)));
  return rightsOf(declared).filter((right) => !isUsed(right));
}

function ruleOf({ verb, group, resource, name }: Right): PolicyRule {
  return {
    apiGroups: [group],
    resources: [resource],
    verbs: [verb],
    ...(name === undefined ? {} : { resourceNames: [name] }),
  };
}

/** The order in which people expect verbs. */
const verbOrder = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/** One rule a resource, without wildcards, for what was really used. */
export function rulesOfUse(used: readonly UsedRight[]): readonly PolicyRule[] {
  const byResource = Map.groupBy(used, ({ group, resource }) => `${group}/${resource}`);
  return [...byResource.values()].flatMap((uses) => {
    const [first] = uses;
    if (first === undefined) return [];
    const verbs = uses.map(({ verb }) => verb).toSorted((a, b) => verbOrder.indexOf(a) - verbOrder.indexOf(b));
    return [{ apiGroups: [first.group], resources: [first.resource], verbs }];
  });
}

/** The declared rules, and behind them rules for what was used without being declared. */
export function withUsedRights(declared: readonly PolicyRule[], used: readonly UsedRight[]): readonly PolicyRule[] {
  const undeclared = used.filter(
    ({ verb, group, resource }) => !declared.some((rule) => isGiven({ verb, group, resource }, rule)),
  );
  return [...declared, ...rulesOfUse(undeclared)];
}

const readingVerbs: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/**
 * The declared rules without what was never used; a rule of which nothing is left is gone. Who reads in one
 * way may have to read in the others on another server, and the right on `finalizers` is only asked for where
 * owner references are policed: both stay.
 */
export function onlyUsedRights(declared: readonly PolicyRule[], used: readonly UsedRight[]): readonly PolicyRule[] {
  return declared.flatMap((rule) => {
    const given = used.filter((use) => isGiven(use, rule));
    const isRead = given.some(({ verb }) => readingVerbs.has(verb));
    const isOfOwners = rule.resources?.every((resource) => resource.endsWith("/finalizers")) === true;
    const verbs = rule.verbs.filter(
      (verb) => isOfOwners || (isRead && readingVerbs.has(verb)) || given.some((use) => use.verb === verb),
    );
    return verbs.length === 0 ? [] : [{ ...rule, verbs }];
  });
}
