/** The sidecar of Thanos beside a Prometheus: it answers queries over gRPC, and uploads blocks; pure. */
import type { PodSpec, SecretKeySelector } from "setpoint/kinds";
import { given } from "../generate/generation.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { KeySelector } from "../kind/references.ts";
import type { ThanosSidecar } from "../kind/thanos-fields.ts";
import { commandLine, type Flag, routePrefix, switched, valued } from "./flags.ts";
import type { Container } from "./merge-containers.ts";
import { type OfPrometheus, prefixed, prometheusPort, storageFolder } from "./names.ts";
import { serverImage } from "./pod-parts.ts";
import { dataMount } from "./prometheus-pod.ts";
import { containerDefaults, servesTls } from "./server-pod.ts";
import { grpcPort, grpcTlsFlags, thanosPort, thanosRepository, thanosVersionOf } from "./thanos-flags.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];

const httpClientVolume = "thanos-prometheus-http-client-file";
const httpClientFolder = "/etc/thanos/config";
export const httpClientFile = "prometheus.http-client-file.yaml";
/** It says what is uploaded; newer servers compact only that. */
const shipperFile = "thanos.shipper.json";

export function httpClientSecretName(of: OfPrometheus): string {
  return `${prefixed(of)}-${httpClientVolume}`;
}

/**
 * How blocks are compacted: `disabled` until they are uploaded, `delayed` until then by servers that can, and
 * `default` when none are uploaded.
 */
export type Compaction = "default" | "disabled" | "delayed";

export function compactionOf({ spec }: Pick<Prometheus, "spec">, version: Version): Compaction {
  if (spec.disableCompaction === true) return "disabled";
  if (spec.thanos === undefined || !uploads(spec.thanos)) return "default";
  const isNew = isAtLeast(version, "3.9.0") && isAtLeast(versionOf(spec.thanos), "0.41.0");
  return isNew ? "delayed" : "disabled";
}

/** What Prometheus must know of it. */
export function compactionFlags(prometheus: Pick<Prometheus, "spec">, version: Version): readonly Flag[] {
  const { thanos, tsdb } = prometheus.spec;
  const compaction = compactionOf(prometheus, version);
  const size = given(thanos?.blockSize) ?? "2h";
  const isOutOfOrder = tsdb?.outOfOrderTimeWindow !== undefined && isAtLeast(version, "2.55.0");
  return [
    ...(compaction === "disabled"
      ? [...valued("storage.tsdb.max-block-duration", size), ...valued("storage.tsdb.min-block-duration", size)]
      : []),
    ...(compaction === "delayed"
      ? valued("storage.tsdb.delay-compact-file.path", `${storageFolder}/${shipperFile}`)
      : []),
    ...switched("no-storage.tsdb.allow-overlapping-compaction", compaction !== "default" && isOutOfOrder),
  ];
}

function uploads({ objectStorageConfig, objectStorageConfigFile }: ThanosSidecar): boolean {
  return objectStorageConfig !== undefined || objectStorageConfigFile !== undefined;
}

function versionOf({ version }: ThanosSidecar): Version {
  return thanosVersionOf(version, "spec.thanos.version");
}

function readsClientFile(version: Version): boolean {
  return isAtLeast(version, "0.24.0");
}

export interface Sidecar {
  readonly sidecars: readonly Container[];
  readonly sidecarVolumes: readonly Volume[];
}

/** None unless `spec.thanos` is given. */
export function thanosSidecarOf(prometheus: Prometheus, version: Version): Sidecar {
  const { spec } = prometheus;
  const { thanos } = spec;
  if (thanos === undefined) return { sidecars: [], sidecarVolumes: [] };
  const own = versionOf(thanos);
  const secret: Volume = { name: httpClientVolume, secret: { secretName: httpClientSecretName(prometheus) } };
  const env = environment(thanos);
  const container: Container = {
    name: "thanos-sidecar",
    image: serverImage(
      { ...spec, image: undefined, baseImage: undefined, sha: undefined, tag: undefined, ...thanos },
      thanosRepository,
      own,
    ),
    ...(spec.imagePullPolicy === undefined ? {} : { imagePullPolicy: spec.imagePullPolicy }),
    args: [
      "sidecar",
      ...commandLine(
        flags(prometheus, thanos, own, compactionOf(prometheus, version)),
        thanos.additionalArgs,
        "spec.thanos",
      ),
    ],
    ...(env.length === 0 ? {} : { env: [...env] }),
    ports: [
      { name: "http", containerPort: thanosPort, protocol: "TCP" },
      { name: "grpc", containerPort: grpcPort, protocol: "TCP" },
    ],
    ...(thanos.resources === undefined ? {} : { resources: thanos.resources }),
    ...containerDefaults,
    volumeMounts: [
      ...(thanos.volumeMounts ?? []),
      ...(uploads(thanos) ? [dataMount(prometheus)] : []),
      ...(readsClientFile(own) ? [{ name: httpClientVolume, mountPath: httpClientFolder }] : []),
    ],
  };
  return { sidecars: [container], sidecarVolumes: readsClientFile(own) ? [secret] : [] };
}

function flags({ spec }: Prometheus, thanos: ThanosSidecar, version: Version, compaction: Compaction): readonly Flag[] {
  const local = (isLocal: boolean | undefined): string =>
    thanos.listenLocal === true || isLocal === true ? "127.0.0.1" : "";
  const timeouts = isAtLeast(version, "0.29.0");
  return [
    ["prometheus.url", `${servesTls(spec) ? "https" : "http"}://localhost:${prometheusPort}${routePrefix(spec)}`],
    ["grpc-address", `${local(thanos.grpcListenLocal)}:${grpcPort}`],
    ["http-address", `${local(thanos.httpListenLocal)}:${thanosPort}`],
    ...grpcTlsFlags(thanos.grpcServerTlsConfig, version),
    ...storageFlags(thanos, compaction),
    ...(given(thanos.tracingConfigFile) === undefined
      ? valued("tracing.config", thanos.tracingConfig === undefined ? undefined : "$(TRACING_CONFIG)")
      : valued("tracing.config-file", thanos.tracingConfigFile)),
    ...valued("log.level", given(thanos.logLevel) ?? spec.logLevel),
    ...valued("log.format", given(thanos.logFormat) ?? spec.logFormat),
    ...valued("min-time", thanos.minTime),
    ...valued("prometheus.ready_timeout", thanos.readyTimeout),
    ...(timeouts ? valued("prometheus.get_config_timeout", thanos.getConfigTimeout) : []),
    ...(timeouts ? valued("prometheus.get_config_interval", thanos.getConfigInterval) : []),
    ...(readsClientFile(version) ? valued("prometheus.http-client-file", `${httpClientFolder}/${httpClientFile}`) : []),
  ];
}

function storageFlags(thanos: ThanosSidecar, compaction: Compaction): readonly Flag[] {
  if (!uploads(thanos)) return [];
  const file = thanos.objectStorageConfigFile;
  return [
    ...(file === undefined ? valued("objstore.config", "$(OBJSTORE_CONFIG)") : valued("objstore.config-file", file)),
    ["tsdb.path", storageFolder],
    ...(compaction === "delayed" ? valued("shipper.meta-file-name", shipperFile) : []),
    ...switched("shipper.ignore-unequal-block-size", compaction === "delayed"),
  ];
}

/** Configurations of Thanos are texts, which the command line takes from variables. */
function environment(thanos: ThanosSidecar): NonNullable<Container["env"]> {
  const { objectStorageConfig: objects, objectStorageConfigFile, tracingConfig: tracing } = thanos;
  const variable = (name: string, selector: KeySelector): NonNullable<Container["env"]>[number] => ({
    name,
    valueFrom: { secretKeyRef: keyReference(selector) },
  });
  return [
    ...(objects === undefined || objectStorageConfigFile !== undefined ? [] : [variable("OBJSTORE_CONFIG", objects)]),
    ...(tracing === undefined || given(thanos.tracingConfigFile) !== undefined
      ? []
      : [variable("TRACING_CONFIG", tracing)]),
  ];
}

function keyReference({ name = "", key, optional }: KeySelector): SecretKeySelector {
  return { name, key, ...(optional === undefined ? {} : { optional }) };
}
