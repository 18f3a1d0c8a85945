/** Rules of RBAC: reading them from objects, matching requests, and whether some rules cover others. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { RequestAttributes } from "../request/request-attributes.ts";

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export function readRules(role: UnstructuredObject | undefined): readonly PolicyRule[] {
  const rules: unknown = role?.["rules"];
  return Array.isArray(rules) ? rules.map(readRule) : [];
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

/**
 * Comparisons of one check. A short rule has as many parts as the product of its lists: three of 200 make
 * eight million.
 */
const comparisonsMax = 50_000_000;
const atomsMax = 20_000;

/**
 * The parts of `wanted` that `held` does not grant; empty when all are granted. Rules of too many parts to
 * look at count as not granted, unless one rule grants the whole of each.
 */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const heldValues = total(held, valuesOf);
  if (heldValues * total(wanted, valuesOf) > comparisonsMax) return wanted;
  const open = wanted.filter((each) => !held.some((rule) => coversWhole(rule, each)));
  const parts = total(open, atomsOf);
  if (parts > atomsMax || heldValues * parts > comparisonsMax) return open;
  return open.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** A rule of both resources and URLs has parts of two kinds, which no single comparison covers. */
function coversWhole(rule: PolicyRule, wanted: PolicyRule): boolean {
  return wanted.nonResourceURLs.length === 0 && covers(rule, wanted);
}

function total(rules: readonly PolicyRule[], count: (rule: PolicyRule) => number): number {
  return rules.reduce((sum, rule) => sum + count(rule), 0);
}

function valuesOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  return verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length;
}

function atomsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const targets = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (targets + nonResourceURLs.length);
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
  const byTarget = new Map<string, { readonly rule: PolicyRule; readonly verbs: Set<string> }>();
  for (const rule of rules) {
    const key = JSON.stringify({ ...rule, verbs: [] });
    const known = byTarget.get(key) ?? { rule, verbs: new Set<string>() };
    for (const verb of rule.verbs) known.verbs.add(verb);
    byTarget.set(key, known);
  }
  return [...byTarget.values()].map(({ rule, verbs }) => ruleLine({ ...rule, verbs: [...verbs] })).sort();
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
