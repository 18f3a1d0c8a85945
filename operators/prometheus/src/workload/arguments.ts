/** The command line of Prometheus; pure. */
import { retentionTime } from "../generate/global-section.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { PrometheusSpec } from "../kind/prometheus.ts";
import { commandLine, type Flag, routePrefix, switched, valued } from "./flags.ts";
import { outputFile, prometheusPort, storageFolder, webConfigFile, webConfigFolder } from "./names.ts";

export function prometheusArguments(spec: PrometheusSpec, version: Version): readonly string[] {
  const own = [
    ...webFlags(spec, version),
    ...featureFlags(spec, version),
    ...storageFlags(spec, version),
    ...queryFlags(spec),
  ];
  return commandLine(own, spec.additionalArgs);
}

function webFlags(spec: PrometheusSpec, version: Version): readonly Flag[] {
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
    ...switched("web.enable-admin-api", spec.enableAdminAPI),
    ["web.config.file", `${webConfigFolder}/${webConfigFile}`],
  ];
}

function featureFlags(spec: PrometheusSpec, version: Version): readonly Flag[] {
  const takesOtlp = spec.enableOTLPReceiver ?? spec.otlp !== undefined;
  const otlp: Flag = version.major >= 3 ? ["web.enable-otlp-receiver"] : ["enable-feature", "otlp-write-receiver"];
  return [...(takesOtlp ? [otlp] : []), ...valued("enable-feature", (spec.enableFeatures ?? []).join(","))];
}

function storageFlags(spec: PrometheusSpec, version: Version): readonly Flag[] {
  // Newer servers read the retention from the configuration.
  const isByFlag = !isAtLeast(version, "3.11.0");
  const compression: Flag = [
    spec.walCompression === true ? "storage.tsdb.wal-compression" : "no-storage.tsdb.wal-compression",
  ];
  const blocks = spec.disableCompaction === true ? "2h" : undefined;
  return [
    ...(isByFlag ? valued("storage.tsdb.retention.time", retentionTime(spec)) : []),
    ...(isByFlag ? valued("storage.tsdb.retention.size", spec.retentionSize) : []),
    ["storage.tsdb.path", storageFolder],
    ...valued("storage.tsdb.max-block-duration", blocks),
    ...valued("storage.tsdb.min-block-duration", blocks),
    ...(spec.walCompression === undefined ? [] : [compression]),
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
