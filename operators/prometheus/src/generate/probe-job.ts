/** The scrape job of a Probe: Prometheus asks the prober about each target. */
import type { Proxy } from "../kind/http-client.ts";
import type { Probe, ProbeTargets } from "../kind/probe.ts";
import { kubernetesDiscovery } from "./discovery.ts";
import { field, type Generation, given, type Section, type Value } from "./generation.ts";
import type { Enforced } from "./namespace-enforcement.ts";
import { copyLabel, selectByLabels } from "./relabeling.ts";
import { mergedSafeTls, scrapeClassOf } from "./scrape-class.ts";
import { honorTimestamps, requestFields, scrapeJob, userRelabelings } from "./scrape-job.ts";
import { shardingSteps } from "./sharding.ts";

type StaticConfig = NonNullable<ProbeTargets["staticConfig"]>;
type Ingresses = NonNullable<ProbeTargets["ingress"]>;

/** Where a prober reads what it should ask. */
const targetLabel = "__param_target";

export function probeJob(generation: Generation, { metadata, spec }: Probe): Section {
  const { namespace = "", name = "" } = metadata;
  const { prober, interval, scrapeTimeout, targets = {} } = spec;
  const object: Enforced = { resource: "probes", namespace, name };
  const scrapeClass = scrapeClassOf(generation, spec.scrapeClass);
  const found = targetsOf(generation, namespace, targets);
  return scrapeJob(generation, {
    name: `probe/${namespace}/${name}`,
    object,
    scrapeClass,
    request: {
      ...honorTimestamps(generation, true),
      ...requestFields({ interval, scrapeTimeout, scheme: prober?.scheme }),
      metrics_path: prober?.path ?? "",
      ...field("params", paramsOf(spec)),
    },
    discovery: found?.discovery ?? {},
    client: { ...spec, ...proxyOf(prober), tlsConfig: mergedSafeTls(spec.tlsConfig, scrapeClass) },
    relabelings: [
      ...(given(spec.jobName) === undefined ? [] : [{ target_label: "job", replacement: spec.jobName ?? "" }]),
      ...(found === undefined
        ? []
        : [
            ...found.steps,
            copyLabel(targetLabel, "instance"),
            { target_label: "__address__", replacement: prober?.url ?? "" },
            ...userRelabelings(generation, scrapeClass, found.relabelings, object),
          ]),
    ],
    sharding: shardingSteps(generation, targetLabel),
    samples: spec,
    metricRelabelings: spec.metricRelabelings,
  });
}

/** The module has a field of its own, which wins over a parameter of this name. */
function paramsOf({ module: moduleName, params = [] }: Probe["spec"]): Section | undefined {
  const byField = given(moduleName);
  const others = params.filter(({ name }) => byField === undefined || name !== "module");
  const entries: readonly (readonly [string, Value])[] = [
    ...(byField === undefined ? [] : [["module", [byField]] as const]),
    ...others.map(({ name, values }) => [name, values ?? []] as const),
  ];
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The prober is what is scraped, so the proxy is its own. */
export function proxyOf(prober: Probe["spec"]["prober"]): Proxy {
  const { proxyUrl, noProxy, proxyFromEnvironment, proxyConnectHeader } = prober ?? {};
  return { proxyUrl, noProxy, proxyFromEnvironment, proxyConnectHeader };
}

interface Targets {
  readonly discovery: Section;
  /** They fill the label that the prober reads. */
  readonly steps: readonly Section[];
  /** The users' own. */
  readonly relabelings: StaticConfig["relabelingConfigs"];
}

/** Addresses win over Ingresses. */
function targetsOf(
  generation: Generation,
  namespace: string,
  { staticConfig, ingress }: ProbeTargets,
): Targets | undefined {
  if (staticConfig !== undefined)
    return {
      discovery: { static_configs: [staticTargets(namespace, staticConfig)] },
      steps: [copyLabel("__address__", targetLabel)],
      relabelings: staticConfig.relabelingConfigs,
    };
  if (ingress === undefined) return undefined;
  const { namespaceSelector, relabelingConfigs: relabelings } = ingress;
  const discovery = kubernetesDiscovery(generation, { role: "ingress", namespace, namespaceSelector });
  return { discovery, steps: ingressSteps(ingress), relabelings };
}

function staticTargets(namespace: string, { static: targets = [], labels }: StaticConfig): Section {
  return { targets, labels: { namespace, ...labels } };
}

function ingressSteps({ selector = {} }: Ingresses): readonly Section[] {
  return [
    ...selectByLabels("ingress", selector),
    {
      source_labels: ["__meta_kubernetes_ingress_scheme", "__address__", "__meta_kubernetes_ingress_path"],
      separator: ";",
      regex: "(.+);(.+);(.+)",
      target_label: targetLabel,
      replacement: "${1}://${2}${3}",
      action: "replace",
    },
    copyLabel("__meta_kubernetes_namespace", "namespace"),
    copyLabel("__meta_kubernetes_ingress_name", "ingress"),
    {
      source_labels: ["__address__"],
      separator: ";",
      regex: "(.*)",
      target_label: "__tmp_ingress_address",
      replacement: "$1",
      action: "replace",
    },
  ];
}
