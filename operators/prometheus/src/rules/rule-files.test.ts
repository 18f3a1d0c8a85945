import { expect, test } from "vitest";
import { parse } from "yaml";
import { versionOf } from "../testing/golden-cases.ts";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { PrometheusRule, type Rule, type RuleGroup } from "../kind/prometheus-rule.ts";
import { packRuleFiles, type RenderedRule, renderRule, ruleConfigMapNames } from "./rule-files.ts";
import { prometheusRules, thanosRules } from "./rule-format.ts";

function render(groups: readonly RuleGroup[], spec: Partial<PrometheusSpec> = {}, version = "2.53.3"): RenderedRule {
  const prometheus = Prometheus({ name: "main", namespace: "monitoring", spec });
  const rule = PrometheusRule({ name: "app", namespace: "shop", spec: { groups } });
  return renderRule(prometheusRules(prometheus.spec, versionOf(version)), {
    ...rule,
    metadata: { ...rule.metadata, uid: "7" },
  });
}

function ruleGroup(...rules: readonly Rule[]): RuleGroup {
  return { name: "app", rules };
}

function fileOf(rendered: RenderedRule): unknown {
  if ("refusal" in rendered) throw new Error(rendered.refusal.message);
  return parse(rendered.file.text);
}

const alert: Rule = {
  alert: "Down",
  expr: "up == 0",
  for: "5m",
  annotations: { summary: "{{ $labels.job }} is down" },
};

test("a file has upstream's name, and the groups as Prometheus reads them", () => {
  const rendered = render([{ ...ruleGroup(alert, { record: "a:b", expr: 1 }), partial_response_strategy: "warn" }]);
  expect(rendered).toMatchObject({ file: { name: "shop-app-7.yaml" } });
  expect(fileOf(rendered)).toEqual({ groups: [{ name: "app", rules: [alert, { record: "a:b", expr: 1 }] }] });
});

test.each([
  ["2.53.3", { query_offset: "1m", limit: 3 }, { keep_firing_for: "1m" }],
  ["2.52.0", { limit: 3 }, { keep_firing_for: "1m" }],
  ["2.41.0", { limit: 3 }, {}],
  ["2.30.0", {}, {}],
  ["3.1.0", { query_offset: "1m", limit: 3, labels: { team: "shop" } }, { keep_firing_for: "1m" }],
])("Prometheus %s gets the fields that it knows", (version, ofGroup, ofRule) => {
  const group = {
    ...ruleGroup({ ...alert, keep_firing_for: "1m" }),
    query_offset: "1m",
    limit: 3,
    labels: { team: "shop" },
  };
  expect(fileOf(render([group], {}, version))).toEqual({
    groups: [{ name: "app", ...ofGroup, rules: [{ ...alert, ...ofRule }] }],
  });
});

test("the enforced label is in the expression and in the labels, unless the object is excluded", () => {
  const enforced: Partial<PrometheusSpec> = { enforcedNamespaceLabel: "namespace" };
  expect(fileOf(render([ruleGroup({ record: "a", expr: "b" })], enforced))).toEqual({
    groups: [{ name: "app", rules: [{ record: "a", expr: 'b{namespace="shop"}', labels: { namespace: "shop" } }] }],
  });
  const excluded = { ...enforced, prometheusRulesExcludedFromEnforce: [{ ruleNamespace: "shop", ruleName: "app" }] };
  expect(fileOf(render([ruleGroup({ record: "a", expr: "b" })], excluded))).toEqual({
    groups: [{ name: "app", rules: [{ record: "a", expr: "b" }] }],
  });
});

test.each<readonly [string, readonly RuleGroup[], string, string]>([
  [
    "twice the same group",
    [ruleGroup(), ruleGroup()],
    "spec.groups",
    'the group "app" is there twice; rename one of them',
  ],
  [
    "no name",
    [ruleGroup({ expr: "up" })],
    "spec.groups[0].rules[0].alert",
    "expected a name in alert or in record, got none",
  ],
  [
    "a wrong expression",
    [ruleGroup({ record: "a", expr: "rate(b)" })],
    "spec.groups[0].rules[0].expr",
    'function rate expects a matrix, got the vector "b"',
  ],
  [
    "a recording rule that waits",
    [ruleGroup({ record: "a", expr: "b", for: "1m" })],
    "spec.groups[0].rules[0].for",
    "only alerts have it; remove it, or use alert",
  ],
  [
    "a wrong duration",
    [{ ...ruleGroup(), interval: "5 minutes" }],
    "spec.groups[0].interval",
    'expected a duration such as 5m, got "5 minutes"',
  ],
  [
    "a wrong label",
    [ruleGroup({ ...alert, labels: { "a-b": "c" } })],
    "spec.groups[0].rules[0].labels.a-b",
    'expected the name of a label, got "a-b"',
  ],
  [
    "a template without an end",
    [ruleGroup({ ...alert, annotations: { text: "{{ $value" } })],
    "spec.groups[0].rules[0].annotations.text",
    'a template that begins with "{{" does not end, or is empty',
  ],
  [
    "a name that is none",
    [ruleGroup({ record: "a b", expr: "c" })],
    "spec.groups[0].rules[0].record",
    'expected the name of a metric, got "a b"',
  ],
])("%s is refused", (_, groups, field, message) => {
  expect(render(groups)).toEqual({ refusal: { field, message } });
});

test("an object that no ConfigMap can hold is refused", () => {
  const many = Array.from({ length: 4_000 }, (_, index) => ({
    record: `a:${index}`,
    expr: `sum(${"b".repeat(100)}) by (c)`,
  }));
  expect(render([ruleGroup(...many)])).toMatchObject({ refusal: { field: "spec.groups" } });
});

test("files are packed in the order of their names", () => {
  const text = "x".repeat(200_000);
  const files = ["c", "a", "d", "b"].map((name) => ({ name, text }));
  expect(packRuleFiles(files).map((pack) => Object.keys(pack))).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  expect(packRuleFiles([])).toEqual([{}]);
});

test("pods mount three ConfigMaps before there are as many", () => {
  expect(ruleConfigMapNames("prometheus-main", 1)).toEqual(
    ["0", "1", "2"].map((n) => `prometheus-main-rulefiles-${n}`),
  );
  expect(ruleConfigMapNames("prometheus-main", 4)).toHaveLength(4);
});

test("Thanos takes what happens on a partial response, and other fields by its own versions", () => {
  const rule = PrometheusRule({
    name: "r",
    namespace: "n",
    spec: { groups: [{ name: "g", partial_response_strategy: "warn", labels: { a: "b" }, rules: [] }] },
  });
  const textOf = (version: string): unknown => {
    const rendered = renderRule(thanosRules({}, versionOf(version)), rule);
    return "file" in rendered ? parse(rendered.file.text) : rendered.refusal;
  };
  const group = { name: "g", partial_response_strategy: "warn", rules: [] };
  expect(textOf("0.42.2")).toEqual({ groups: [{ ...group, labels: { a: "b" } }] });
  expect(textOf("0.38.0")).toEqual({ groups: [group] });
});
