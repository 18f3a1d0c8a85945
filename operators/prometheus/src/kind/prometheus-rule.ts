/** The kind PrometheusRule: groups of recording and alerting rules. */
import { defineKind, type ObjectOf } from "setpoint";
import { intOrString } from "setpoint/kinds";
import { z } from "zod";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, open, text, textMap } from "./open-object.ts";
import { configurationStatus } from "./scrape-fields.ts";

const ruleSchema = open({
  record: text,
  alert: text,
  expr: intOrString(),
  for: text,
  keep_firing_for: text,
  labels: textMap,
  annotations: textMap,
});

const group = open({
  name: z.string().min(1),
  labels: textMap,
  interval: text,
  query_offset: text,
  rules: z.array(ruleSchema).optional(),
  partial_response_strategy: text,
  limit: count,
});

export const ruleSpec = open({
  groups: z.array(group).optional().describe("Each is evaluated as a whole, in order."),
});

/** The kind PrometheusRule, `monitoring.coreos.com/v1`. */
export const PrometheusRule = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "PrometheusRule",
  shortNames: ["promrule"],
  categories,
  spec: ruleSpec,
  status: configurationStatus,
});
export type PrometheusRule = ObjectOf<typeof PrometheusRule>;
export type RuleGroup = NonNullable<PrometheusRule["spec"]["groups"]>[number];
export type Rule = NonNullable<RuleGroup["rules"]>[number];
