/** The files with rules that Prometheus loads, and the ConfigMaps that hold them; pure. */
import { stringify } from "yaml";
import { enforcedLabel } from "../generate/namespace-enforcement.ts";
import type { PrometheusRule, Rule, RuleGroup } from "../kind/prometheus-rule.ts";
import { firstRefusal, type Refusal } from "../select/refusal.ts";
import { checkRuleGroups, ruleBytesMax } from "./check-rules.ts";
import { withMatcher } from "./promql.ts";
import type { RuleFormat } from "./rule-format.ts";

/** ConfigMaps that pods mount although they need not exist: a second one makes no pod restart. */
const mountedMin = 3;

export interface RuleFile {
  readonly name: string;
  readonly text: string;
}

/** What became of a PrometheusRule: a file, or the reason why there is none. */
export type RenderedRule = { readonly file: RuleFile } | { readonly refusal: Refusal };

export function renderRule(format: RuleFormat, rule: PrometheusRule): RenderedRule {
  const { namespace = "", name = "", uid = "" } = rule.metadata;
  const groups = (rule.spec.groups ?? []).map((group) => knownFields(group, format));
  const refusal = firstRefusal([checkRuleGroups(format, groups)]);
  if (refusal !== undefined) return { refusal };
  const label = enforcedLabel(format.enforcement, { resource: "prometheusrules", namespace, name });
  const enforced = label === undefined ? groups : groups.map((group) => enforce(group, label, namespace));
  return { file: { name: `${namespace}-${name}-${uid}.yaml`, text: fileText(enforced) } };
}

/** Without the fields that the server would refuse. */
function knownFields(group: RuleGroup, format: RuleFormat): RuleGroup {
  const { partial_response_strategy: strategy, limit, query_offset: offset, labels, rules = [], ...others } = group;
  return {
    ...others,
    ...(limit !== undefined && format.takesLimit ? { limit } : {}),
    ...(offset !== undefined && format.takesQueryOffset ? { query_offset: offset } : {}),
    ...(labels !== undefined && format.takesGroupLabels ? { labels } : {}),
    ...(strategy !== undefined && format.takesPartialResponse ? { partial_response_strategy: strategy } : {}),
    rules: format.takesKeepFiringFor ? rules : rules.map(withoutKeepFiringFor),
  };
}

function withoutKeepFiringFor(rule: Rule): Rule {
  const { keep_firing_for: _, ...others } = rule;
  return others;
}

function enforce(group: RuleGroup, label: string, namespace: string): RuleGroup {
  const enforced = (rule: Rule): Rule => ({
    ...rule,
    expr: withMatcher(String(rule.expr), label, namespace),
    labels: { ...rule.labels, [label]: namespace },
  });
  return { ...group, rules: (group.rules ?? []).map(enforced) };
}

function fileText(groups: readonly RuleGroup[]): string {
  return stringify(
    { groups: groups.map(withoutEmpty) },
    { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false },
  );
}

/** An empty duration or name means that there is none, and Prometheus would refuse it. */
function withoutEmpty<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutEmpty) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, each]) => each !== undefined && !(each === "" && optional.has(key)),
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, maps.has(key) ? each : withoutEmpty(each)])) as T;
}

const optional = new Set([
  ...["for", "keep_firing_for", "interval", "query_offset", "record", "alert"],
  "partial_response_strategy",
]);
/** What users name as they like. */
const maps = new Set(["labels", "annotations"]);

/** The data of each ConfigMap: files in the order of their names, as many as fit. */
export function packRuleFiles(files: readonly RuleFile[]): readonly Readonly<Record<string, string>>[] {
  const packs: Record<string, string>[] = [{}];
  let bytes = 0;
  for (const { name, text } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const size = Buffer.byteLength(text);
    if (bytes + size > ruleBytesMax) {
      packs.push({});
      bytes = 0;
    }
    const last = packs.at(-1);
    if (last !== undefined) last[name] = text;
    bytes += size;
  }
  return packs;
}

/** The names of the ConfigMaps that a pod mounts, those that do not exist yet included. */
/** `workload` is the name of its own objects, such as `prometheus-main`. */
export function ruleConfigMapNames(workload: string, packs: number): readonly string[] {
  return Array.from({ length: Math.max(packs, mountedMin) }, (_, index) => ruleConfigMapName(workload, index));
}

export function ruleConfigMapName(workload: string, index: number): string {
  return `${workload}-rulefiles-${index}`;
}
