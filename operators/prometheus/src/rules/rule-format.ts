/** Which rules a server takes, by what it is and by its version. */
import { isAtLeast, type Version } from "../generate/version.ts";
import type { CommonPrometheusSpec } from "../kind/common-prometheus.ts";
import { monitoringGroup } from "../kind/monitoring-group.ts";
import type { PrometheusSpec } from "../kind/prometheus.ts";

type Enforcement = Pick<CommonPrometheusSpec, "enforcedNamespaceLabel" | "excludedFromEnforcement">;

/** The fields of a workload that say on which rules it enforces the namespace. */
export type RuleEnforcement = Enforcement &
  Pick<PrometheusSpec, "prometheusRulesExcludedFromEnforce"> & {
    readonly enableFeatures?: readonly string[] | undefined;
  };

export interface RuleFormat {
  readonly enforcement: Enforcement;
  /** The features of the server: `promql-experimental-functions` and its like. */
  readonly features: readonly string[];
  /** Names of labels and metrics may have any characters. */
  readonly takesAnyName: boolean;
  readonly takesLimit: boolean;
  readonly takesQueryOffset: boolean;
  readonly takesGroupLabels: boolean;
  readonly takesKeepFiringFor: boolean;
  /** What happens when only some of the servers that are asked answer. */
  readonly takesPartialResponse: boolean;
}

export function prometheusRules(spec: RuleEnforcement, version: Version): RuleFormat {
  return {
    enforcement: enforcementOf(spec),
    features: spec.enableFeatures ?? [],
    takesAnyName: version.major >= 3,
    takesLimit: isAtLeast(version, "2.31.0"),
    takesQueryOffset: isAtLeast(version, "2.53.0"),
    takesGroupLabels: isAtLeast(version, "3.0.0"),
    takesKeepFiringFor: isAtLeast(version, "2.42.0"),
    takesPartialResponse: false,
  };
}

export function thanosRules(spec: RuleEnforcement, version: Version): RuleFormat {
  return {
    enforcement: enforcementOf(spec),
    features: [],
    takesAnyName: isAtLeast(version, "0.38.0"),
    takesLimit: isAtLeast(version, "0.24.0"),
    takesQueryOffset: isAtLeast(version, "0.38.0"),
    takesGroupLabels: isAtLeast(version, "0.39.0"),
    takesKeepFiringFor: isAtLeast(version, "0.34.0"),
    takesPartialResponse: true,
  };
}

/** The older field excludes rules by name. */
function enforcementOf({
  enforcedNamespaceLabel,
  excludedFromEnforcement = [],
  prometheusRulesExcludedFromEnforce = [],
}: RuleEnforcement): Enforcement {
  const rules = prometheusRulesExcludedFromEnforce.map(({ ruleNamespace, ruleName }) => ({
    group: monitoringGroup,
    resource: "prometheusrules",
    namespace: ruleNamespace,
    name: ruleName,
  }));
  return { enforcedNamespaceLabel, excludedFromEnforcement: [...excludedFromEnforcement, ...rules] };
}
