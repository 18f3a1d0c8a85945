/** The workloads that may use monitors and rules, each with its own check; pure. */
import type { Assets } from "../generate/assets.ts";
import { given } from "../generate/generation.ts";
import { defaultPrometheusVersion, parseVersion, type Version } from "../generate/version.ts";
import type { AnyPrometheus, Prometheus } from "../kind/prometheus.ts";
import type { PrometheusAgent } from "../kind/prometheus-agent.ts";
import type { PrometheusRule } from "../kind/prometheus-rule.ts";
import type { ThanosRuler } from "../kind/thanos-ruler.ts";
import { renderRule } from "../rules/rule-files.ts";
import { prometheusRules, type RuleFormat, thanosRules } from "../rules/rule-format.ts";
import type { CheckedBy } from "../select/check-scrape.ts";
import { refuse, type Refusal } from "../select/refusal.ts";
import { isManaged, type Labelled } from "../select/selection.ts";
import { defaultThanosVersion } from "../workload/thanos-flags.ts";
import type { User } from "./bindings.ts";

interface Versioned extends Labelled {
  readonly kind: string;
  readonly spec: { readonly version?: string | undefined };
}

/** All workloads of the cluster. */
export interface Workloads {
  readonly prometheuses: readonly Prometheus[];
  readonly agents: readonly PrometheusAgent[];
  readonly rulers: readonly ThanosRuler[];
}

/** Those that have targets of their own choice; one without any selector is configured by the user. */
export function scrapingUsers<T>(
  { prometheuses, agents }: Pick<Workloads, "prometheuses" | "agents">,
  assets: Assets,
  check: (by: CheckedBy, object: T) => Refusal | undefined,
): readonly User<T>[] {
  const userOf = (resource: User<T>["resource"], workload: AnyPrometheus): User<T> => ({
    resource,
    workload,
    refusal: (object) => withVersion(workload, (version) => check({ spec: workload.spec, version, assets }, object)),
  });
  const managed = <W extends AnyPrometheus>(workloads: readonly W[]): readonly W[] =>
    byKey(workloads.filter(({ spec }) => isManaged(spec)));
  return [
    ...managed(prometheuses).map((each) => userOf("prometheuses", each)),
    ...managed(agents).map((each) => userOf("prometheusagents", each)),
  ];
}

export function ruleUsers({ prometheuses, rulers }: Workloads): readonly User<PrometheusRule>[] {
  return [
    ...byKey(prometheuses).map((workload): User<PrometheusRule> => ({
      resource: "prometheuses",
      workload,
      refusal: (rule) => withVersion(workload, (version) => refusalOf(prometheusRules(workload.spec, version), rule)),
    })),
    ...byKey(rulers).map((workload): User<PrometheusRule> => ({
      resource: "thanosrulers",
      workload,
      refusal: (rule) =>
        withVersion(workload, (version) => refusalOf(thanosRules(workload.spec, version), rule), defaultThanosVersion),
    })),
  ];
}

function refusalOf(format: RuleFormat, rule: PrometheusRule): Refusal | undefined {
  const rendered = renderRule(format, rule);
  return "refusal" in rendered ? rendered.refusal : undefined;
}

/** A workload whose version is none accepts nothing. */
function withVersion(
  { kind, metadata, spec }: Versioned,
  check: (version: Version) => Refusal | undefined,
  defaultVersion = defaultPrometheusVersion,
): Refusal | undefined {
  const version = parseVersion(given(spec.version) ?? defaultVersion);
  if (version !== undefined) return check(version);
  return refuse(
    "spec.version",
    `${kind} "${metadata.namespace ?? ""}/${metadata.name ?? ""}" has a version that is none`,
  );
}

function byKey<T extends Labelled>(objects: readonly T[]): readonly T[] {
  const keyOf = ({ metadata }: T): string => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  return objects.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
