/** The command line of a ThanosRuler; pure. */
import { ConfigurationRefused, given } from "../generate/generation.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { ThanosRulerSpec } from "../kind/thanos-ruler.ts";
import { commandLine, type Flag, valued } from "./flags.ts";
import { webConfigFile } from "./names.ts";
import { grpcTlsFlags, thanosPort } from "./thanos-flags.ts";
import { rulerConfigFolder, rulerRulesFolder, rulerStorageFolder, rulerWebFolder } from "./thanos-names.ts";

const replicaLabel = "thanos_ruler_replica";

/** A key of a Secret that is mounted for one flag. */
export interface RulerKey {
  /** Of its volume, and of the folder of the file. */
  readonly name: string;
  readonly secret: string;
  readonly key: string;
}

type Selector = NonNullable<ThanosRulerSpec["queryConfig"]>;

/** Those that the command line names. */
export function rulerKeys(spec: ThanosRulerSpec): readonly RulerKey[] {
  const keyOf = (name: string, selector: Selector | undefined): readonly RulerKey[] =>
    selector === undefined ? [] : [{ name, secret: selector.name ?? "", key: selector.key }];
  const unless = (file: string | undefined, selector: Selector | undefined): Selector | undefined =>
    given(file) === undefined ? selector : undefined;
  return [
    ...keyOf("query-config", spec.queryConfig),
    ...keyOf("alertmanager-config", spec.alertmanagersConfig),
    ...keyOf("objstorage-config", unless(spec.objectStorageConfigFile, spec.objectStorageConfig)),
    ...keyOf("tracing-config", unless(spec.tracingConfigFile, spec.tracingConfig)),
    ...keyOf("alertrelabel-config", unless(spec.alertRelabelConfigFile, spec.alertRelabelConfigs)),
  ];
}

export function rulerArguments(spec: ThanosRulerSpec, version: Version): readonly string[] {
  const own = [
    ...evaluationFlags(spec, version),
    ...labelFlags(spec),
    ...(spec.listenLocal === true ? valued("http-address", `localhost:${thanosPort}`) : []),
    ...(spec.logLevel === "info" ? [] : valued("log.level", spec.logLevel)),
    ...valued("log.format", spec.logFormat),
    ["rule-file", `${rulerRulesFolder}/*/*.yaml`] as const,
    ...serverFlags(spec),
    ...grpcTlsFlags(spec.grpcServerTlsConfig, version),
    ...valued("web.external-prefix", spec.externalPrefix),
    ...valued("web.route-prefix", spec.routePrefix),
    ...valued("alert.query-url", spec.alertQueryUrl),
  ];
  const web = isAtLeast(version, "0.21.0") ? [`--http.config=${rulerWebFolder}/${webConfigFile}`] : [];
  return ["rule", ...commandLine(own, spec.additionalArgs), ...web];
}

function evaluationFlags(spec: ThanosRulerSpec, version: Version): readonly Flag[] {
  const since = (minimum: string, name: string, value: string | number | undefined): readonly Flag[] =>
    isAtLeast(version, minimum) ? valued(name, value) : [];
  return [
    ["data-dir", rulerStorageFolder],
    ["eval-interval", spec.evaluationInterval],
    ["tsdb.retention", spec.retention],
    ...since("0.38.0", "rule-query-offset", spec.ruleQueryOffset),
    ...since("0.37.0", "rule-concurrent-evaluation", spec.ruleConcurrentEval),
    ...since("0.30.0", "for-outage-tolerance", spec.ruleOutageTolerance),
    ...since("0.30.0", "for-grace-period", spec.ruleGracePeriod),
    ...valued("resend-delay", spec.resendDelay),
    ...since("0.39.0", "enable-feature", (spec.enableFeatures ?? []).join(",")),
  ];
}

/** Each replica has a label of its own, which alerts lose: those of all replicas are one. */
function labelFlags({ labels = {}, alertDropLabels = [] }: ThanosRulerSpec): readonly Flag[] {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    ["label", `${replicaLabel}="$(POD_NAME)"`],
    ...sorted.map(([name, value]): Flag => ["label", `${name}="${value}"`]),
    ...[replicaLabel, ...alertDropLabels].map((name): Flag => ["alert.label-drop", name]),
  ];
}

/** Throws `ConfigurationRefused` when there is nobody to ask. */
function queryFlags({ queryEndpoints = [] }: ThanosRulerSpec, file: string | undefined): readonly Flag[] {
  if (file !== undefined) return valued("query.config-file", file);
  if (queryEndpoints.length === 0)
    throw new ConfigurationRefused("spec.queryEndpoints", "expected at least one, or queryConfig, got none");
  return queryEndpoints.map((endpoint) => ["query", endpoint]);
}

/** Who answers queries, who takes alerts, where blocks and traces go. A file of the pod wins over a key. */
function serverFlags(spec: ThanosRulerSpec): readonly Flag[] {
  const files = new Map(rulerKeys(spec).map(({ name, key }) => [name, `${rulerConfigFolder}/${name}/${key}`]));
  const alertmanagers = files.get("alertmanager-config");
  return [
    ...queryFlags(spec, files.get("query-config")),
    ...(alertmanagers === undefined
      ? (spec.alertmanagersUrl ?? []).map((url): Flag => ["alertmanagers.url", url])
      : valued("alertmanagers.config-file", alertmanagers)),
    ...valued("objstore.config-file", given(spec.objectStorageConfigFile) ?? files.get("objstorage-config")),
    ...valued("tracing.config-file", given(spec.tracingConfigFile) ?? files.get("tracing-config")),
    ...valued("alert.relabel-config-file", given(spec.alertRelabelConfigFile) ?? files.get("alertrelabel-config")),
  ];
}
