/** Whether a PrometheusRule can be loaded, by the rules of Prometheus' own loader. */
import { stringify } from "yaml";
import { durationMs } from "../generate/durations.ts";
import type { Rule, RuleGroup } from "../kind/prometheus-rule.ts";
import { firstRefusal, refuse, type Refusal, within } from "../select/refusal.ts";
import { promqlProblem, type PromqlOptions } from "./promql.ts";
import type { RuleFormat } from "./rule-format.ts";

/** Half of what the server stores of one ConfigMap, as upstream has it. */
export const ruleBytesMax = 524_288;

export type RuleCheck = PromqlOptions & Pick<RuleFormat, "takesAnyName">;

export function checkRuleGroups(check: RuleCheck, groups: readonly RuleGroup[]): Refusal | undefined {
  const names = groups.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return refuse("spec.groups", `the group "${twice}" is there twice; rename one of them`);
  return (
    firstRefusal(groups.map((group, index) => within(`spec.groups[${index}]`, checkGroup(check, group)))) ??
    checkSize(groups)
  );
}

function checkSize(groups: readonly RuleGroup[]): Refusal | undefined {
  const bytes = Buffer.byteLength(stringify({ groups }));
  return bytes > ruleBytesMax
    ? refuse("spec.groups", `expected at most ${ruleBytesMax} bytes, got ${bytes}; split the object`)
    : undefined;
}

function checkGroup(check: RuleCheck, group: RuleGroup): Refusal | undefined {
  const { rules = [] } = group;
  return firstRefusal([
    checkDuration("interval", group.interval),
    checkDuration("query_offset", group.query_offset),
    checkLabels("labels", group.labels ?? {}, check),
    ...rules.map((rule, index) => within(`rules[${index}]`, checkRule(check, rule))),
  ]);
}

/** An empty duration means none. */
function checkDuration(field: string, text: string | undefined): Refusal | undefined {
  return text === undefined || text === "" || durationMs(text) !== undefined
    ? undefined
    : refuse(field, `expected a duration such as 5m, got "${text}"`);
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

function isLabelName(name: string, { takesAnyName }: RuleCheck): boolean {
  return name !== "__name__" && (takesAnyName ? name !== "" : labelName.test(name));
}

function checkLabels(field: string, labels: Readonly<Record<string, string>>, check: RuleCheck): Refusal | undefined {
  const wrong = Object.keys(labels).find((name) => !isLabelName(name, check));
  return wrong === undefined ? undefined : refuse(`${field}.${wrong}`, `expected the name of a label, got "${wrong}"`);
}

function checkRule(check: RuleCheck, rule: Rule): Refusal | undefined {
  const { record = "", alert = "", labels = {}, annotations = {} } = rule;
  if (record === "" && alert === "") return refuse("alert", "expected a name in alert or in record, got none");
  if (record !== "" && alert !== "") return refuse("record", "it cannot be combined with alert; use one of them");
  const expression = String(rule.expr);
  const problem = expression.trim() === "" ? "expected an expression, got nothing" : promqlProblem(expression, check);
  return firstRefusal([
    problem === undefined ? undefined : refuse("expr", problem),
    record === "" ? undefined : checkRecording(rule, check),
    checkDuration("for", rule.for),
    checkDuration("keep_firing_for", rule.keep_firing_for),
    checkLabels("labels", labels, check),
    checkLabels("annotations", annotations, check),
    ...(alert === "" ? [] : [checkTemplates("labels", labels), checkTemplates("annotations", annotations)]),
  ]);
}

function checkRecording(rule: Rule, { takesAnyName }: RuleCheck): Refusal | undefined {
  const { record = "" } = rule;
  const alertsOnly = (["for", "keep_firing_for"] as const).find((field) => (rule[field] ?? "") !== "");
  if (alertsOnly !== undefined) return refuse(alertsOnly, "only alerts have it; remove it, or use alert");
  if (Object.keys(rule.annotations ?? {}).length > 0)
    return refuse("annotations", "only alerts have them; remove them, or use alert");
  return !takesAnyName && !metricName.test(record)
    ? refuse("record", `expected the name of a metric, got "${record}"`)
    : undefined;
}

/** Prometheus refuses a template that does not end. The functions of templates are not checked. */
function checkTemplates(field: string, templates: Readonly<Record<string, string>>): Refusal | undefined {
  for (const [name, template] of Object.entries(templates)) {
    const rest = template.replaceAll(/\{\{(?:"(?:[^"\\]|\\.)*"|`[^`]*`|(?!\}\})[^"`])+\}\}/gs, "");
    if (rest.includes("{{"))
      return refuse(`${field}.${name}`, `a template that begins with "{{" does not end, or is empty`);
  }
  return undefined;
}
