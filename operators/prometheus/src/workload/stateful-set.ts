/** The StatefulSet of one shard; pure. */
import { StatefulSet, type PodSpec } from "setpoint/kinds";
import { rulesFolder } from "../generate/configuration.ts";
import { tlsAssetsFolder } from "../generate/assets.ts";
import type { Version } from "../generate/version.ts";
import type { Prometheus, PrometheusSpec } from "../kind/prometheus.ts";
import { prometheusArguments } from "./arguments.ts";
import { claimTemplates, dataVolumes, storageMount } from "./data-volume.ts";
import { routePrefix } from "./flags.ts";
import { type Container, mergeContainers } from "./merge-containers.ts";
import {
  configFile,
  configFolder,
  governingService,
  labels,
  outputFile,
  outputFolder,
  ownLabels,
  podSelector,
  prefixed,
  prometheusPort,
  statefulSetName,
  storageFolder,
  tlsSecretName,
  volumeName,
  webConfigFolder,
  webConfigSecretName,
} from "./names.ts";
import { containerSecurity, placement, readOnly, serverImage } from "./pod-parts.ts";
import { type ReloaderContainers, reloaderContainers } from "./reloader-container.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

/** What the builder needs besides the object. */
export interface WorkloadSettings {
  readonly version: Version;
  /** The operator's own image, which has the reloader. */
  readonly reloaderImage: string;
  readonly ruleConfigMaps: readonly string[];
}

const logFolder = "/var/log/prometheus";
const defaultGraceSeconds = 600;
const repository = "quay.io/prometheus/prometheus";

export function shardStatefulSet(prometheus: Prometheus, shard: number, settings: WorkloadSettings): StatefulSet {
  const { metadata, spec } = prometheus;
  const { name = "", namespace = "" } = metadata;
  const selector = podSelector(name, shard);
  const claims = claimTemplates(spec.storage, volumeName(name));
  const isUnset = (value: unknown): boolean => value === undefined;
  return StatefulSet({
    name: statefulSetName(name, shard),
    namespace,
    labels: { ...metadata.labels, ...ownLabels(name), [labels.shard]: String(shard), [labels.mode]: "server" },
    spec: {
      serviceName: spec.serviceName ?? governingService,
      replicas: Math.max(spec.replicas ?? 1, 0),
      podManagementPolicy: spec.podManagementPolicy ?? "Parallel",
      updateStrategy: { type: "RollingUpdate", ...spec.updateStrategy },
      ...(isUnset(spec.minReadySeconds) ? {} : { minReadySeconds: spec.minReadySeconds ?? 0 }),
      selector: { matchLabels: selector },
      template: {
        metadata: {
          labels: { "app.kubernetes.io/version": settings.version.text, ...spec.podMetadata?.labels, ...selector },
          annotations: {
            "kubectl.kubernetes.io/default-container": "prometheus",
            ...spec.podMetadata?.annotations,
          },
        },
        spec: podSpec(prometheus, shard, settings),
      },
      ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims }),
      ...(isUnset(spec.persistentVolumeClaimRetentionPolicy)
        ? {}
        : { persistentVolumeClaimRetentionPolicy: { ...spec.persistentVolumeClaimRetentionPolicy } }),
    },
  });
}

function podSpec(prometheus: Prometheus, shard: number, settings: WorkloadSettings): PodSpec {
  const { spec } = prometheus;
  const { first, sidecar } = reloaders(prometheus, shard, settings);
  return {
    serviceAccountName: spec.serviceAccountName ?? "default",
    automountServiceAccountToken: spec.automountServiceAccountToken ?? true,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? defaultGraceSeconds,
    ...placement(spec),
    initContainers: [...mergeContainers([first], spec.initContainers)],
    containers: [...mergeContainers([server(prometheus, settings), sidecar], spec.containers)],
    volumes: [...volumes(prometheus, settings), ...(spec.volumes ?? [])],
  };
}

function server({ metadata, spec }: Prometheus, { version, ruleConfigMaps }: WorkloadSettings): Container {
  const name = metadata.name ?? "";
  const path = (end: string): string => `${routePrefix(spec)}/-/${end}`.replaceAll("//", "/");
  const probe = (end: string): Pick<NonNullable<Container["readinessProbe"]>, "httpGet" | "timeoutSeconds"> => ({
    httpGet: { path: path(end), port: spec.portName },
    timeoutSeconds: 3,
  });
  const isLocal = spec.listenLocal === true;
  return {
    name: "prometheus",
    image: serverImage(spec, repository, version),
    ...(spec.imagePullPolicy === undefined ? {} : { imagePullPolicy: spec.imagePullPolicy }),
    args: [...prometheusArguments(spec, version)],
    ...(isLocal ? {} : { ports: [{ name: spec.portName, containerPort: prometheusPort, protocol: "TCP" }] }),
    ...(isLocal
      ? {}
      : {
          startupProbe: { ...probe("ready"), ...startup(spec.maximumStartupDurationSeconds) },
          readinessProbe: { ...probe("ready"), periodSeconds: 5, failureThreshold: 3 },
          livenessProbe: { ...probe("healthy"), periodSeconds: 5, failureThreshold: 6 },
        }),
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    securityContext: containerSecurity,
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [
      { name: "config-out", mountPath: outputFolder, readOnly: true },
      { name: "tls-assets", mountPath: tlsAssetsFolder, readOnly: true },
      storageMount(spec.storage, {
        name: volumeName(name),
        mountPath: storageFolder,
        subPath: "prometheus-db",
      }),
      ...(spec.volumeMounts ?? []),
      ...(spec.secrets ?? []).map((each) => readOnly(`secret-${each}`, `/etc/prometheus/secrets/${each}`)),
      ...(spec.configMaps ?? []).map((each) => readOnly(`configmap-${each}`, `/etc/prometheus/configmaps/${each}`)),
      ...ruleMounts(ruleConfigMaps),
      ...(hasLogVolume(spec) ? [{ name: "log-file", mountPath: logFolder }] : []),
      readOnly("web-config", webConfigFolder),
    ],
  };
}

function ruleMounts(configMaps: readonly string[]): readonly Mount[] {
  return configMaps.map((name) => readOnly(name, `${rulesFolder}/${name}`));
}

/** Replaying the log of a large server takes long: a quarter of an hour, unless the user says more. */
function startup(seconds = 0): { readonly periodSeconds: number; readonly failureThreshold: number } {
  if (seconds < 60) return { periodSeconds: 15, failureThreshold: 60 };
  const failureThreshold = Math.ceil(seconds / 60);
  return { periodSeconds: Math.ceil(seconds / failureThreshold), failureThreshold };
}

/** Names of log files without a folder are in a volume. */
function hasLogVolume({ queryLogFile = "", scrapeFailureLogFile = "" }: PrometheusSpec): boolean {
  return [queryLogFile, scrapeFailureLogFile].some((path) => path !== "" && !path.includes("/"));
}

/** Writes the configuration and has Prometheus load it. */
function reloaders(
  { spec }: Prometheus,
  shard: number,
  { reloaderImage, ruleConfigMaps }: WorkloadSettings,
): ReloaderContainers {
  return reloaderContainers({
    image: reloaderImage,
    imagePullPolicy: spec.imagePullPolicy,
    config: `${configFolder}/${configFile}`,
    output: outputFile,
    reloadUrl: `http://localhost:${prometheusPort}${routePrefix(spec)}/-/reload`.replace(/([^:])\/\//, "$1/"),
    listensLocally: spec.listenLocal === true,
    watched: ruleConfigMaps.map((each) => `--rules=${rulesFolder}/${each}`),
    env: [{ name: "SHARD", value: String(shard) }],
    mounts: [readOnly("config", configFolder), { name: "config-out", mountPath: outputFolder }],
    watchedMounts: ruleMounts(ruleConfigMaps),
  });
}

function volumes({ metadata, spec }: Prometheus, { ruleConfigMaps }: WorkloadSettings): readonly Volume[] {
  const { name = "" } = metadata;
  return [
    { name: "config", secret: { secretName: prefixed(name) } },
    { name: "tls-assets", projected: { sources: [{ secret: { name: tlsSecretName(name) } }] } },
    // The configuration has passwords, so it is on no disk.
    { name: "config-out", emptyDir: { medium: "Memory" } },
    ...dataVolumes(spec.storage, volumeName(name)),
    ...(spec.secrets ?? []).map((each): Volume => ({ name: `secret-${each}`, secret: { secretName: each } })),
    ...(spec.configMaps ?? []).map((each): Volume => ({ name: `configmap-${each}`, configMap: { name: each } })),
    ...ruleConfigMaps.map((each): Volume => ({ name: each, configMap: { name: each, optional: true } })),
    ...(hasLogVolume(spec) ? [{ name: "log-file", emptyDir: {} }] : []),
    { name: "web-config", secret: { secretName: webConfigSecretName(name) } },
  ];
}
