/** The files with rules of a workload, and the ConfigMaps that hold them; pure. */
import type { Stored } from "setpoint";
import type { PrometheusRule } from "../kind/prometheus-rule.ts";
import { packRuleFiles, renderRule, ruleConfigMapName, ruleConfigMapNames } from "../rules/rule-files.ts";
import type { RuleFormat } from "../rules/rule-format.ts";
import type { Rejected } from "../select/refusal.ts";

export interface PackedRules {
  /** The data of each ConfigMap. */
  readonly packs: readonly Readonly<Record<string, string>>[];
  /** The ConfigMaps that a pod mounts, those that do not exist yet included. */
  readonly configMaps: readonly string[];
  /** All files by `CONFIGMAP/FILE`. */
  readonly mounted: ReadonlyMap<string, string>;
  readonly rejected: readonly Rejected[];
}

/** `workload` is the name of its own objects, such as `prometheus-main`. */
export function packedRules(
  workload: string,
  format: RuleFormat,
  rules: readonly Stored<PrometheusRule>[],
): PackedRules {
  const rendered = rules.map((rule) => ({ object: rule, result: renderRule(format, rule) }));
  const packs = packRuleFiles(rendered.flatMap(({ result }) => ("file" in result ? [result.file] : [])));
  const mounted = packs.flatMap((pack, index) =>
    Object.entries(pack).map(([file, text]) => [`${ruleConfigMapName(workload, index)}/${file}`, text] as const),
  );
  return {
    packs,
    configMaps: ruleConfigMapNames(workload, packs.length),
    mounted: new Map(mounted),
    rejected: rendered.flatMap(({ object, result }) =>
      "refusal" in result ? [{ object, refusal: result.refusal }] : [],
    ),
  };
}
