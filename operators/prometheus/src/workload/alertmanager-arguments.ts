/** The command line of Alertmanager; pure. */
import { parseQuantity } from "setpoint/kinds";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { Alertmanager, AlertmanagerSpec } from "../kind/alertmanager.ts";
import {
  alertmanagerName,
  alertmanagerOutputFile,
  alertmanagerPort,
  alertmanagerService,
  alertmanagerWebFolder,
  clusterTlsFile,
  clusterTlsFolder,
  meshPort,
} from "./alertmanager-names.ts";
import { commandLine, type Flag, routePrefix, valued } from "./flags.ts";
import { webConfigFile } from "./names.ts";

export function alertmanagerArguments(alertmanager: Alertmanager, version: Version): readonly string[] {
  const { spec } = alertmanager;
  const own = [...serverFlags(spec, version), ...limitFlags(spec, version), ...clusterFlags(alertmanager, version)];
  return commandLine(own, spec.additionalArgs);
}

export function replicasOf({ replicas }: AlertmanagerSpec): number {
  return Math.max(replicas ?? 1, 0);
}

function serverFlags(spec: AlertmanagerSpec, version: Version): readonly Flag[] {
  return [
    ["config.file", alertmanagerOutputFile],
    ["storage.path", "/alertmanager"],
    ["data.retention", spec.retention],
    ["web.listen-address", spec.listenLocal === true ? `127.0.0.1:${alertmanagerPort}` : `:${alertmanagerPort}`],
    ...valued("web.external-url", spec.externalUrl),
    ["web.route-prefix", routePrefix(spec)],
    ...valued("web.get-concurrency", spec.web?.getConcurrency),
    ...valued("web.timeout", spec.web?.timeout),
    ...(spec.logLevel === "info" ? [] : valued("log.level", spec.logLevel)),
    ...(spec.logFormat === "logfmt" ? [] : valued("log.format", spec.logFormat)),
    ...(isAtLeast(version, "0.27.0") ? valued("enable-feature", (spec.enableFeatures ?? []).join(",")) : []),
    ...(isAtLeast(version, "0.22.0") ? valued("web.config.file", `${alertmanagerWebFolder}/${webConfigFile}`) : []),
  ];
}

function limitFlags({ limits, minReadySeconds, additionalArgs }: AlertmanagerSpec, version: Version): readonly Flag[] {
  const isUsers = (additionalArgs ?? []).some(({ name }) => name === "dispatch.start-delay");
  const delays = isAtLeast(version, "0.30.0") && minReadySeconds !== undefined && !isUsers;
  const delay: readonly Flag[] = delays ? [["dispatch.start-delay", `${minReadySeconds}s`]] : [];
  if (!isAtLeast(version, "0.28.0") || limits === undefined) return delay;
  const { maxSilences, maxPerSilenceBytes = "" } = limits;
  return [
    ...delay,
    ...(maxSilences === undefined ? [] : [["silences.max-silences", String(maxSilences)] as const]),
    ...(maxPerSilenceBytes === "" ? [] : [["silences.max-per-silence-bytes", bytesOf(maxPerSilenceBytes)] as const]),
  ];
}

/** `1MB` and `1MiB` are the same here, as for upstream. */
function bytesOf(size: string): string {
  const quantity = size.replace(/^(\d+(?:\.\d+)?)(?:([KMGTPE])i?)?B?$/, (_, number: string, unit = "") =>
    unit === "" ? number : `${number}${String(unit)}i`,
  );
  return String(parseQuantity(quantity).nanos / 1_000_000_000n);
}

/** Whether the pods gossip: one pod alone has nobody to gossip with. */
function isCluster(spec: AlertmanagerSpec): boolean {
  return replicasOf(spec) !== 1 || spec.forceEnableClusterMode === true;
}

function clusterFlags({ metadata, spec }: Alertmanager, version: Version): readonly Flag[] {
  const { name = "", namespace = "" } = metadata;
  const domain = spec.serviceName ?? alertmanagerService;
  const pods = Array.from(
    { length: replicasOf(spec) },
    (_, at) => `${alertmanagerName(name)}-${at}.${domain}:${meshPort}`,
  );
  const label = spec.clusterLabel ?? `${namespace}/${name}`;
  return [
    // An empty address switches the gossip off; the flag needs its equals sign.
    isCluster(spec) ? ["cluster.listen-address", `[$(POD_IP)]:${meshPort}`] : ["cluster.listen-address="],
    ...valued("cluster.advertise-address", spec.clusterAdvertiseAddress),
    ...valued("cluster.gossip-interval", spec.clusterGossipInterval),
    ...valued("cluster.pushpull-interval", spec.clusterPushpullInterval),
    ...valued("cluster.peer-timeout", spec.clusterPeerTimeout),
    ...(isAtLeast(version, "0.30.0") ? valued("cluster.peer-name", "$(POD_NAME)") : []),
    // Addresses of pods are used again: without it, a pod could join the cluster of another Alertmanager.
    ...(isAtLeast(version, "0.26.0") ? valued("cluster.label", label) : []),
    ...[...pods, ...(spec.additionalPeers ?? [])].map((peer) => ["cluster.peer", peer] as const),
    // Six hours by default: so long a pod that was replaced would be looked for.
    ["cluster.reconnect-timeout", "5m"],
    ...(isAtLeast(version, "0.24.0") && spec.clusterTLS !== undefined
      ? valued("cluster.tls-config", `${clusterTlsFolder}/${clusterTlsFile}`)
      : []),
  ];
}
