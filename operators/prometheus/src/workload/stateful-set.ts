/** The StatefulSet of one shard; pure. */
import { StatefulSet, type PodSpec } from "setpoint/kinds";
import { rulesFolder } from "../generate/configuration.ts";
import { tlsAssetsFolder } from "../generate/assets.ts";
import { given } from "../generate/generation.ts";
import type { PrometheusVersion } from "../generate/prometheus-version.ts";
import type { Prometheus, PrometheusSpec } from "../kind/prometheus.ts";
import { prometheusArguments, routePrefix } from "./arguments.ts";
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
  reloaderPort,
  statefulSetName,
  storageFolder,
  tlsSecretName,
  volumeName,
  webConfigFolder,
  webConfigSecretName,
} from "./names.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

/** What the builder needs besides the object. */
export interface WorkloadSettings {
  readonly version: PrometheusVersion;
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
  const claims = claimTemplates(prometheus);
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

type ClaimTemplates = NonNullable<NonNullable<StatefulSet["spec"]>["volumeClaimTemplates"]>;

/** None when the data are in a volume of the pod. */
function claimTemplates({ metadata, spec }: Prometheus): ClaimTemplates {
  const { storage } = spec;
  if (storage === undefined || storage.emptyDir !== undefined || storage.ephemeral !== undefined) return [];
  const { metadata: own, spec: claim } = storage.volumeClaimTemplate ?? {};
  return [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: own?.name ?? volumeName(metadata.name ?? ""),
        labels: { ...own?.labels },
        annotations: { ...own?.annotations },
      },
      spec: { ...claim, accessModes: claim?.accessModes ?? ["ReadWriteOnce"] },
    },
  ];
}

function podSpec(prometheus: Prometheus, shard: number, settings: WorkloadSettings): PodSpec {
  const { spec } = prometheus;
  return {
    serviceAccountName: spec.serviceAccountName ?? "default",
    automountServiceAccountToken: spec.automountServiceAccountToken ?? true,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? defaultGraceSeconds,
    ...placement(spec),
    initContainers: [
      ...mergeContainers([reloader("init-config-reloader", prometheus, shard, settings)], spec.initContainers),
    ],
    containers: [
      ...mergeContainers(
        [server(prometheus, settings), reloader("config-reloader", prometheus, shard, settings)],
        spec.containers,
      ),
    ],
    volumes: [...volumes(prometheus, settings), ...(spec.volumes ?? [])],
  };
}

/** The fields of a pod that users set for the whole of it. */
function placement(spec: PrometheusSpec): Partial<PodSpec> {
  const { hostNetwork = false } = spec;
  const dnsPolicy = spec.dnsPolicy ?? (hostNetwork ? "ClusterFirstWithHostNet" : undefined);
  const fields: { readonly [Name in keyof PodSpec]?: PodSpec[Name] | undefined } = {
    securityContext: spec.securityContext,
    nodeSelector: spec.nodeSelector,
    schedulerName: given(spec.schedulerName),
    priorityClassName: given(spec.priorityClassName),
    affinity: spec.affinity,
    tolerations: spec.tolerations,
    topologySpreadConstraints: spec.topologySpreadConstraints,
    hostAliases: spec.hostAliases,
    hostNetwork: hostNetwork ? true : undefined,
    hostUsers: spec.hostUsers,
    enableServiceLinks: spec.enableServiceLinks,
    imagePullSecrets: spec.imagePullSecrets,
    dnsPolicy,
    dnsConfig: spec.dnsConfig,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Its own field, then the parts that older manifests name. */
function serverImage(spec: PrometheusSpec, version: PrometheusVersion): string {
  const image = given(spec.image);
  if (image !== undefined) return image;
  const base = given(spec.baseImage) ?? repository;
  if (given(spec.sha) !== undefined) return `${base}@sha256:${spec.sha ?? ""}`;
  return `${base}:${given(spec.tag) ?? `v${version.text}`}`;
}

const containerSecurity: NonNullable<Container["securityContext"]> = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
};

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
    image: serverImage(spec, version),
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
      storageMount(name, spec),
      ...(spec.volumeMounts ?? []),
      ...(spec.secrets ?? []).map((each) => readOnly(`secret-${each}`, `/etc/prometheus/secrets/${each}`)),
      ...(spec.configMaps ?? []).map((each) => readOnly(`configmap-${each}`, `/etc/prometheus/configmaps/${each}`)),
      ...ruleMounts(ruleConfigMaps),
      ...(hasLogVolume(spec) ? [{ name: "log-file", mountPath: logFolder }] : []),
      readOnly("web-config", webConfigFolder),
    ],
  };
}

function readOnly(name: string, mountPath: string): Mount {
  return { name, mountPath, readOnly: true };
}

function ruleMounts(configMaps: readonly string[]): readonly Mount[] {
  return configMaps.map((name) => readOnly(name, `${rulesFolder}/${name}`));
}

function storageMount(name: string, { storage }: PrometheusSpec): Mount {
  const claim = storage?.volumeClaimTemplate?.metadata?.name ?? volumeName(name);
  const isWhole = storage === undefined || storage.disableMountSubPath === true;
  return { name: claim, mountPath: storageFolder, ...(isWhole ? {} : { subPath: "prometheus-db" }) };
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

/** Writes the configuration and has Prometheus load it; as an init container it ends at once. */
function reloader(
  name: "config-reloader" | "init-config-reloader",
  { spec }: Prometheus,
  shard: number,
  { reloaderImage, ruleConfigMaps }: WorkloadSettings,
): Container {
  const isFirst = name === "init-config-reloader";
  const url = `http://localhost:${prometheusPort}${routePrefix(spec)}/-/reload`.replace(/([^:])\/\//, "$1/");
  const isLocal = spec.listenLocal === true;
  return {
    name,
    image: reloaderImage,
    ...(spec.imagePullPolicy === undefined ? {} : { imagePullPolicy: spec.imagePullPolicy }),
    args: [
      "reload",
      `--config=${configFolder}/${configFile}`,
      `--output=${outputFile}`,
      ...(isFirst ? ["--once"] : [`--reload-url=${url}`, `--listen=${isLocal ? "127.0.0.1" : ""}:${reloaderPort}`]),
      ...(isFirst ? [] : ruleConfigMaps.map((each) => `--rules=${rulesFolder}/${each}`)),
    ],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "SHARD", value: String(shard) },
    ],
    ...(isFirst || isLocal ? {} : { ports: [{ name: "reloader-web", containerPort: reloaderPort, protocol: "TCP" }] }),
    resources: { requests: { cpu: "10m", memory: "64Mi" } },
    securityContext: containerSecurity,
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [
      readOnly("config", configFolder),
      { name: "config-out", mountPath: outputFolder },
      ...(isFirst ? [] : ruleMounts(ruleConfigMaps)),
    ],
  };
}

function volumes({ metadata, spec }: Prometheus, { ruleConfigMaps }: WorkloadSettings): readonly Volume[] {
  const { name = "" } = metadata;
  const { storage } = spec;
  const data: Volume = {
    name: volumeName(name),
    ...(storage?.ephemeral === undefined
      ? { emptyDir: { ...storage?.emptyDir } }
      : { ephemeral: { ...storage.ephemeral } }),
  };
  const isInPod = claimTemplates({ metadata, spec } as Prometheus).length === 0;
  return [
    { name: "config", secret: { secretName: prefixed(name) } },
    { name: "tls-assets", projected: { sources: [{ secret: { name: tlsSecretName(name) } }] } },
    // The configuration has passwords, so it is on no disk.
    { name: "config-out", emptyDir: { medium: "Memory" } },
    ...(isInPod ? [data] : []),
    ...(spec.secrets ?? []).map((each): Volume => ({ name: `secret-${each}`, secret: { secretName: each } })),
    ...(spec.configMaps ?? []).map((each): Volume => ({ name: `configmap-${each}`, configMap: { name: each } })),
    ...ruleConfigMaps.map((each): Volume => ({ name: each, configMap: { name: each, optional: true } })),
    ...(hasLogVolume(spec) ? [{ name: "log-file", emptyDir: {} }] : []),
    { name: "web-config", secret: { secretName: webConfigSecretName(name) } },
  ];
}
