/** The configuration of each workload among objects of files, as the operator has it. */
import type { KindRef, KubeObject, Stored } from "setpoint";
import { ConfigMap, isDecodeError, Namespace, StatefulSet } from "setpoint/kinds";
import { stringify } from "yaml";
import { assetPath, Assets } from "../generate/assets.ts";
import { ConfigurationRefused, given } from "../generate/generation.ts";
import { problemText } from "../generate/problem-text.ts";
import { Alertmanager } from "../kind/alertmanager.ts";
import { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { PrometheusAgent } from "../kind/prometheus-agent.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ThanosRuler } from "../kind/thanos-ruler.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { chooseConfigs } from "../notification/choose-configs.ts";
import { planRuler } from "../plan/ruler-plan.ts";
import { planAgent } from "../plan/agent-plan.ts";
import { planAlertmanager } from "../plan/alertmanager-plan.ts";
import type { Plan, PlanSettings } from "../plan/outcome.ts";
import { plan } from "../plan/plan.ts";
import { refusalText } from "../select/refusal.ts";
import { type ScrapeObjects, selectScrapeObjects } from "../select/scrape-objects.ts";
import { selected } from "../select/selection.ts";
import { alertmanagerFile, alertmanagerName } from "../workload/alertmanager-names.ts";
import type { FileObject } from "./objects-in-files.ts";

export interface Rendered {
  /** Such as `Prometheus "default/main"`. */
  readonly name: string;
  /** Absent when there is none, which the problems explain. */
  readonly configuration?: string;
  readonly problems: readonly string[];
}

/** Prometheuses, agents, ThanosRulers, then Alertmanagers, each in the order of their names. */
export function renderAll(objects: readonly FileObject[], settings: Omit<PlanSettings, "image">): readonly Rendered[] {
  const sources: Sources = {
    serviceMonitors: parsed(ServiceMonitor, objects),
    podMonitors: parsed(PodMonitor, objects),
    probes: parsed(Probe, objects),
    scrapeConfigs: parsed(ScrapeConfig, objects),
    rules: parsed(PrometheusRule, objects),
    namespaces: namespacesOf(objects),
    assets: assetsOf(objects),
  };
  const all = { ...settings, image: "setpoint.dev/prometheus-operator" };
  const configs = [...parsed(AlertmanagerConfig, objects), ...converted(objects)];
  return [
    ...byName(parsed(Prometheus, objects)).map((each) => renderPrometheus(each, sources, all)),
    ...byName(parsed(PrometheusAgent, objects)).map((each) => renderAgent(each, sources, all)),
    ...byName(parsed(ThanosRuler, objects)).map((each) => renderRuler(each, sources, all)),
    ...byName(parsed(Alertmanager, objects)).map((each) => renderAlertmanager(each, { ...sources, configs }, all)),
  ];
}

function byName<T extends KubeObject>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

interface Sources extends ScrapeObjects {
  readonly rules: readonly Stored<PrometheusRule>[];
  readonly namespaces: readonly Stored<Namespace>[];
  readonly assets: Assets;
}

const usersOwn = "it has no selector of targets, so its configuration is the user's";

function renderPrometheus(prometheus: Stored<Prometheus>, sources: Sources, settings: PlanSettings): Rendered {
  const { namespaces, assets } = sources;
  const name = `Prometheus "${nameOf(prometheus)}"`;
  const made = plan(
    {
      prometheus,
      ...selectScrapeObjects(prometheus, sources, namespaces),
      rules: selected(prometheus, "PrometheusRule", sources.rules, namespaces),
      ...{ namespaces, assets, statefulSets: [], pods: [], hasConfiguration: true },
    },
    settings,
  );
  return rendered(name, made, usersOwn);
}

function renderAgent(agent: Stored<PrometheusAgent>, sources: Sources, settings: PlanSettings): Rendered {
  const { namespaces, assets } = sources;
  const objects = selectScrapeObjects(agent, sources, namespaces);
  const pods = { statefulSets: [], daemonSets: [], pods: [], hasConfiguration: true };
  const made = planAgent({ prometheus: agent, ...objects, namespaces, assets, ...pods }, settings);
  return rendered(`PrometheusAgent "${nameOf(agent)}"`, made, usersOwn);
}

/** It has no configuration: its command line and its rules are all that it works by. */
function renderRuler(ruler: Stored<ThanosRuler>, { rules, namespaces }: Sources, settings: PlanSettings): Rendered {
  const name = `ThanosRuler "${nameOf(ruler)}"`;
  const chosen = selected(ruler, "PrometheusRule", rules, namespaces);
  const made = planRuler({ ruler, rules: chosen, statefulSets: [], pods: [], servicePortName: "web" }, settings);
  return rendered(name, made.kind === "apply" ? { ...made, configuration: rulerText(made.children) } : made, "");
}

function rulerText(children: readonly KubeObject[]): string {
  const set = children.find(({ kind }) => kind === StatefulSet.kind) as StatefulSet | undefined;
  const maps = children.filter(({ kind }) => kind === ConfigMap.kind) as readonly ConfigMap[];
  const files = maps.flatMap(({ data = {} }) => Object.entries(data));
  const args = set?.spec?.template.spec?.containers[0]?.args ?? [];
  return stringify({ arguments: args, rules: Object.fromEntries(files) }, { lineWidth: 0 });
}

function renderAlertmanager(
  alertmanager: Stored<Alertmanager>,
  { namespaces, assets, configs }: Sources & { readonly configs: readonly Stored<AlertmanagerConfig>[] },
  settings: PlanSettings,
): Rendered {
  const { metadata, spec } = alertmanager;
  const secret = { name: given(spec.configSecret) ?? alertmanagerName(metadata.name), key: alertmanagerFile };
  const made = planAlertmanager(
    {
      alertmanager,
      base: { configuration: assets.secret(metadata.namespace ?? "", secret), files: {} },
      ...chooseConfigs(alertmanager, configs, namespaces),
      ...{ assets, statefulSets: [], pods: [], servicePortName: "web" },
    },
    settings,
  );
  return rendered(`Alertmanager "${nameOf(alertmanager)}"`, made, "it has no configuration");
}

/** `absent` says why a plan without a problem has no configuration. */
function rendered(name: string, made: Plan, absent: string): Rendered {
  if (made.kind === "paused") return { name, problems: ["spec.paused is true, so nothing is written"] };
  if (made.kind === "refused") return { name, problems: [refusalText(made.refusal)] };
  const problems = [
    ...made.rejected.map(
      ({ object, refusal }) => `left out: ${object.kind} "${nameOf(object)}": ${refusalText(refusal)}`,
    ),
    ...made.problems.map(problemText),
  ];
  if (made.configuration === undefined) return { name, problems: [...problems, absent] };
  return { name, configuration: made.configuration, problems };
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

/** AlertmanagerConfigs of the newer version. */
function converted(objects: readonly FileObject[]): readonly Stored<AlertmanagerConfig>[] {
  const newer = objects.filter(
    ({ kind, apiVersion }) => kind === AlertmanagerConfig.kind && apiVersion === `${AlertmanagerConfig.group}/v1beta1`,
  );
  return newer.map(({ value, file }) => {
    const { status: _, ...rest } = value;
    const older = AlertmanagerConfig.convert(rest as unknown as KubeObject, AlertmanagerConfig.apiVersion);
    return stored(parseOne(AlertmanagerConfig, older, file));
  });
}

interface ParsingKind<T> extends KindRef {
  readonly apiVersion: string;
  readonly parse: (value: unknown) => T;
}

/** With the defaults of the kind. Throws `ConfigurationRefused` for one that a server would refuse. */
function parsed<T extends KubeObject>(kind: ParsingKind<T>, objects: readonly FileObject[]): readonly Stored<T>[] {
  return objects
    .filter((object) => object.kind === kind.kind && object.apiVersion === kind.apiVersion)
    .map(({ value, file }) => {
      const { status: _, ...rest } = value;
      return stored(parseOne(kind, rest, file));
    });
}

function parseOne<T>(kind: ParsingKind<T>, value: unknown, file: string): T {
  try {
    return kind.parse(value);
  } catch (error) {
    if (isDecodeError(error) || error instanceof Error) throw new ConfigurationRefused(file, error.message);
    throw error;
  }
}

/** What only a server adds. */
function stored<T extends KubeObject>(object: T): Stored<T> {
  const metadata = { uid: "", resourceVersion: "0", generation: 1, creationTimestamp: "", ...object.metadata };
  return { ...object, metadata } as unknown as Stored<T>;
}

/** Those of the files, and without labels those that objects are in. */
function namespacesOf(objects: readonly FileObject[]): readonly Stored<Namespace>[] {
  const given = objects.filter(({ kind, apiVersion }) => kind === "Namespace" && apiVersion === "v1");
  const known = new Set(given.map(({ metadata }) => metadata.name));
  const others = new Set(objects.map(({ metadata }) => metadata.namespace).filter((name) => !known.has(name)));
  return [
    ...given.map(({ value }) => stored(value as unknown as Namespace)),
    ...[...others].map((name) => stored(Namespace({ name }))),
  ];
}

function assetsOf(objects: readonly FileObject[]): Assets {
  const values = new Map<string, string>();
  for (const { kind, apiVersion, metadata, value } of objects) {
    if (apiVersion !== "v1" || (kind !== "Secret" && kind !== "ConfigMap")) continue;
    const put = (key: string, text: string): unknown => values.set(assetPath({ kind, ...metadata, key }), text);
    for (const [key, text] of entriesOf(value["data"]))
      put(key, kind === "Secret" ? Buffer.from(text, "base64").toString("utf8") : text);
    for (const [key, text] of entriesOf(value["stringData"])) put(key, text);
  }
  return new Assets(values);
}

function entriesOf(value: unknown): readonly (readonly [string, string])[] {
  return Object.entries(value ?? {}).map(([key, text]) => [key, String(text)] as const);
}
