/** Rules of RBAC: reading them from objects, matching requests, and whether some rules cover others. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { RequestAttributes } from "../registry/request-attributes.ts";

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** By the role's own list: stored objects never change, and servers that start from the same contents share them. */
const known = new WeakMap<readonly unknown[], readonly PolicyRule[]>();

export function readRules(role: UnstructuredObject | undefined): readonly PolicyRule[] {
  const rules: unknown = role?.["rules"];
  if (!Array.isArray(rules)) return [];
  if (!Object.isFrozen(rules)) return rules.map(readRule);
  let read = known.get(rules);
  if (read === undefined) {
    read = rules.map(readRule);
    known.set(rules, read);
  }
  return read;
}

function readRule(rule: unknown): PolicyRule {
  const fields = (typeof rule === "object" && rule !== null ? rule : {}) as Readonly<Record<string, unknown>>;
  const strings = (name: string): readonly string[] => {
    const value = fields[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    verbs: strings("verbs"),
    apiGroups: strings("apiGroups"),
    resources: strings("resources"),
    resourceNames: strings("resourceNames"),
    nonResourceURLs: strings("nonResourceURLs"),
  };
}

export function ruleAllows(rule: PolicyRule, attributes: RequestAttributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResourceRequest) return rule.nonResourceURLs.some((url) => urlMatches(url, attributes.path));
  return (
    hasOrAll(rule.apiGroups, attributes.group) &&
    resourceMatches(rule.resources, attributes.resource, attributes.subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name))
  );
}

function hasOrAll(values: readonly string[], value: string): boolean {
  return values.includes(value) || values.includes("*");
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  if (subresource === "") return hasOrAll(resources, resource);
  return hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function urlMatches(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}

/** The parts of `wanted` that `held` does not grant; empty when all are granted. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** A rule as rules of one verb and one resource (or URL) each. */
function atoms(rule: PolicyRule): readonly PolicyRule[] {
  const empty = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  return rule.verbs.flatMap((verb) => [
    ...rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) => {
        const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
        return names.map((resourceNames) => {
          return { ...empty, verbs: [verb], apiGroups: [group], resources: [resource], resourceNames };
        });
      }),
    ),
    ...rule.nonResourceURLs.map((url) => ({ ...empty, verbs: [verb], nonResourceURLs: [url] })),
  ]);
}

function covers(rule: PolicyRule, atom: PolicyRule): boolean {
  const all = (held: readonly string[], wanted: readonly string[]): boolean =>
    held.includes("*") || wanted.every((each) => held.includes(each));
  if (!all(rule.verbs, atom.verbs)) return false;
  if (atom.nonResourceURLs.length > 0) {
    return atom.nonResourceURLs.every((url) => rule.nonResourceURLs.some((pattern) => urlMatches(pattern, url)));
  }
  return (
    all(rule.apiGroups, atom.apiGroups) &&
    atom.resources.every((resource) => resourceCovers(rule.resources, resource)) &&
    (rule.resourceNames.length === 0 ||
      (atom.resourceNames.length > 0 && atom.resourceNames.every((name) => rule.resourceNames.includes(name))))
  );
}

function resourceCovers(resources: readonly string[], resource: string): boolean {
  const slash = resource.indexOf("/");
  return hasOrAll(resources, resource) || (slash !== -1 && resources.includes(`*${resource.slice(slash)}`));
}

/** Lines as upstream prints them in a 403: verbs of the same resource together, the lines sorted. */
export function ruleLines(rules: readonly PolicyRule[]): readonly string[] {
  const byTarget = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify({ ...rule, verbs: [] });
    const known = byTarget.get(key);
    const verbs = [...new Set([...(known?.verbs ?? []), ...rule.verbs])];
    byTarget.set(key, { ...rule, verbs });
  }
  return [...byTarget.values()].map(ruleLine).sort();
}

function ruleLine(rule: PolicyRule): string {
  const fields: readonly (readonly [string, readonly string[]])[] = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["ResourceNames", rule.resourceNames],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["Verbs", rule.verbs],
  ];
  const shown = fields.filter(([, values]) => values.length > 0);
  return `{${shown.map(([name, values]) => `${name}:[${values.map((each) => JSON.stringify(each)).join(" ")}]`).join(", ")}}`;
}
