/** The command line of a Prometheus server and of an agent; pure. */
import { retentionTime } from "../generate/storage-section.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { CommonPrometheusSpec } from "../kind/common-prometheus.ts";
import type { PrometheusSpec } from "../kind/prometheus.ts";
import { commandLine, type Flag, routePrefix, switched, valued } from "./flags.ts";
import { compactionFlags } from "./thanos-sidecar.ts";
import { outputFile, prometheusPort, storageFolder, webConfigFile, webConfigFolder } from "./names.ts";

export function prometheusArguments(spec: PrometheusSpec, version: Version): readonly string[] {
  const own = [
    ...commonFlags(spec, version),
    ...switched("web.enable-admin-api", spec.enableAdminAPI),
    ...storageFlags(spec, version),
    ...queryFlags(spec),
  ];
  return commandLine(own, spec.additionalArgs);
}

/** An agent writes samples to its log until they are sent. */
export function agentArguments(spec: CommonPrometheusSpec, version: Version): readonly string[] {
  const mode: Flag = version.major === 2 ? ["enable-feature", "agent"] : ["agent"];
  const own = [
    ...commonFlags(spec, version),
    mode,
    ["storage.agent.path", storageFolder] as const,
    ...walCompression("storage.agent.wal-compression", spec.walCompression),
  ];
  return commandLine(own, spec.additionalArgs);
}

function commonFlags(spec: CommonPrometheusSpec, version: Version): readonly Flag[] {
  return [...webFlags(spec, version), ...featureFlags(spec, version)];
}

function walCompression(flag: string, isOn: boolean | undefined): readonly Flag[] {
  return isOn === undefined ? [] : [[isOn ? flag : `no-${flag}`]];
}

function webFlags(spec: CommonPrometheusSpec, version: Version): readonly Flag[] {
  const consoles: readonly Flag[] =
    version.major === 2
      ? [
          ["web.console.templates", "/etc/prometheus/consoles"],
          ["web.console.libraries", "/etc/prometheus/console_libraries"],
        ]
      : [];
  return [
    ["config.file", outputFile],
    ...consoles,
    ["web.enable-lifecycle"],
    ...valued("web.page-title", spec.web?.pageTitle),
    ...valued("web.max-connections", spec.web?.maxConnections),
    ...switched("web.enable-remote-write-receiver", spec.enableRemoteWriteReceiver),
    ...valued("web.external-url", spec.externalUrl),
    ["web.route-prefix", routePrefix(spec)],
    ...(spec.logLevel === "info" ? [] : valued("log.level", spec.logLevel)),
    ...(spec.logFormat === "logfmt" ? [] : valued("log.format", spec.logFormat)),
    ...(spec.listenLocal === true ? valued("web.listen-address", `127.0.0.1:${prometheusPort}`) : []),
    ["web.config.file", `${webConfigFolder}/${webConfigFile}`],
  ];
}

function featureFlags(spec: CommonPrometheusSpec, version: Version): readonly Flag[] {
  const takesOtlp = spec.enableOTLPReceiver ?? spec.otlp !== undefined;
  const otlp: Flag = version.major >= 3 ? ["web.enable-otlp-receiver"] : ["enable-feature", "otlp-write-receiver"];
  return [...(takesOtlp ? [otlp] : []), ...valued("enable-feature", (spec.enableFeatures ?? []).join(","))];
}

function storageFlags(spec: PrometheusSpec, version: Version): readonly Flag[] {
  // Newer servers read the retention from the configuration.
  const isByFlag = !isAtLeast(version, "3.11.0");
  return [
    ...(isByFlag ? valued("storage.tsdb.retention.time", retentionTime(spec)) : []),
    ...(isByFlag ? valued("storage.tsdb.retention.size", spec.retentionSize) : []),
    ["storage.tsdb.path", storageFolder],
    ...compactionFlags({ spec }, version),
    ...walCompression("storage.tsdb.wal-compression", spec.walCompression),
  ];
}

function queryFlags({ rules, query }: PrometheusSpec): readonly Flag[] {
  return [
    ...valued("rules.alert.for-outage-tolerance", rules?.alert?.forOutageTolerance),
    ...valued("rules.alert.for-grace-period", rules?.alert?.forGracePeriod),
    ...valued("rules.alert.resend-delay", rules?.alert?.resendDelay),
    ...valued("query.lookback-delta", query?.lookbackDelta),
    ...valued("query.max-samples", query?.maxSamples),
    ...valued("query.max-concurrency", query?.maxConcurrency),
    ...valued("query.timeout", query?.timeout),
  ];
}
