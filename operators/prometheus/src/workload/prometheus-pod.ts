/** The pod of a Prometheus or of an agent: its containers and volumes; pure. */
import type { PodSpec } from "setpoint/kinds";
import { tlsAssetsFolder } from "../generate/assets.ts";
import { rulesFolder } from "../generate/configuration.ts";
import type { Version } from "../generate/version.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import { dataVolumes, storageMount } from "./data-volume.ts";
import { routePrefix } from "./flags.ts";
import type { Container } from "./merge-containers.ts";
import {
  configFile,
  configFolder,
  outputFile,
  outputFolder,
  prefixed,
  prometheusPort,
  storageFolder,
  tlsSecretName,
  volumeName,
  webConfigFile,
  webConfigFolder,
  webConfigSecretName,
} from "./names.ts";
import { readOnly, serverImage } from "./pod-parts.ts";
import { type ReloaderContainers, reloaderContainers } from "./reloader-container.ts";
import {
  namedMounts,
  namedVolumes,
  outputVolume,
  reloadUrl,
  serverContainer,
  serverPod,
  tlsAssetsVolume,
  webProbe,
} from "./server-pod.ts";
import { serverTlsFiles } from "./web-server.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

/** What a server, an agent, and each of their shards puts into the pod. */
export interface PrometheusPod {
  readonly version: Version;
  /** The operator's own image, which has the reloader. */
  readonly reloaderImage: string;
  readonly args: readonly string[];
  readonly ruleConfigMaps: readonly string[];
  /** Variables that the configuration may name. */
  readonly variables: NonNullable<Container["env"]>;
  readonly sidecars: readonly Container[];
  readonly sidecarVolumes: readonly Volume[];
}

const logFolder = "/var/log/prometheus";
const defaultGraceSeconds = 600;
const repository = "quay.io/prometheus/prometheus";

export function prometheusPod(prometheus: AnyPrometheus, parts: PrometheusPod): PodSpec {
  const { spec } = prometheus;
  const { first, sidecar } = reloaders(prometheus, parts);
  return serverPod(spec, {
    graceSeconds: defaultGraceSeconds,
    account: {
      serviceAccountName: spec.serviceAccountName ?? "default",
      automountServiceAccountToken: spec.automountServiceAccountToken ?? true,
    },
    initContainers: [first],
    containers: [server(prometheus, parts), sidecar, ...parts.sidecars],
    volumes: [...volumes(prometheus, parts), ...parts.sidecarVolumes],
  });
}

function server(prometheus: AnyPrometheus, parts: PrometheusPod): Container {
  const { spec } = prometheus;
  const isLocal = spec.listenLocal === true;
  return {
    ...serverContainer(spec, {
      name: "prometheus",
      image: serverImage(spec, repository, parts.version),
      args: parts.args,
    }),
    ...(isLocal ? {} : { ports: [{ name: spec.portName, containerPort: prometheusPort, protocol: "TCP" }] }),
    ...(isLocal ? {} : probes(prometheus)),
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    volumeMounts: [
      readOnly("config-out", outputFolder),
      readOnly("tls-assets", tlsAssetsFolder),
      dataMount(prometheus),
      ...(spec.volumeMounts ?? []),
      ...namedMounts(spec, "/etc/prometheus"),
      ...ruleMounts(parts.ruleConfigMaps),
      ...(hasLogVolume(prometheus) ? [{ name: "log-file", mountPath: logFolder }] : []),
      ...webMounts(prometheus),
    ],
  };
}

/** The folder of blocks and of the log of writes. */
export function dataMount(prometheus: AnyPrometheus): Mount {
  const mount = { name: volumeName(prometheus), mountPath: storageFolder, subPath: "prometheus-db" };
  return storageMount(prometheus.spec.storage, mount);
}

function probes({ spec }: AnyPrometheus): Pick<Container, "startupProbe" | "readinessProbe" | "livenessProbe"> {
  const ready = webProbe(spec, routePrefix(spec), "ready");
  return {
    startupProbe: { ...ready, ...startup(spec.maximumStartupDurationSeconds) },
    readinessProbe: { ...ready, periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...webProbe(spec, routePrefix(spec), "healthy"), periodSeconds: 5, failureThreshold: 6 },
  };
}

/** Replaying the log of a large server takes long: a quarter of an hour, unless the user says more. */
function startup(seconds = 0): { readonly periodSeconds: number; readonly failureThreshold: number } {
  if (seconds < 60) return { periodSeconds: 15, failureThreshold: 60 };
  const failureThreshold = Math.ceil(seconds / 60);
  return { periodSeconds: Math.ceil(seconds / failureThreshold), failureThreshold };
}

function ruleMounts(configMaps: readonly string[]): readonly Mount[] {
  return configMaps.map((name) => readOnly(name, `${rulesFolder}/${name}`));
}

function tlsFiles({ spec }: AnyPrometheus): ReturnType<typeof serverTlsFiles> {
  return serverTlsFiles(spec.web?.tlsConfig, webConfigFolder, "web-config-tls");
}

/**
 * The folder, in which a changed file is seen. With keys below it, the file alone, because nothing can be
 * mounted into a Secret.
 */
function webMounts(prometheus: AnyPrometheus): readonly Mount[] {
  const { mounts } = tlsFiles(prometheus);
  if (mounts.length === 0) return [readOnly("web-config", webConfigFolder)];
  return [{ ...readOnly("web-config", `${webConfigFolder}/${webConfigFile}`), subPath: webConfigFile }, ...mounts];
}

/** Names of log files without a folder are in a volume. */
function hasLogVolume({ spec }: AnyPrometheus): boolean {
  const { queryLogFile = "", scrapeFailureLogFile = "" } = spec;
  return [queryLogFile, scrapeFailureLogFile].some((path) => path !== "" && !path.includes("/"));
}

/** Writes the configuration and has Prometheus load it. */
function reloaders({ spec }: AnyPrometheus, parts: PrometheusPod): ReloaderContainers {
  return reloaderContainers({
    image: parts.reloaderImage,
    imagePullPolicy: spec.imagePullPolicy,
    config: `${configFolder}/${configFile}`,
    output: outputFile,
    reloadUrl: reloadUrl(spec, prometheusPort, routePrefix(spec)),
    listensLocally: spec.listenLocal === true,
    watched: parts.ruleConfigMaps.map((each) => `--rules=${rulesFolder}/${each}`),
    env: parts.variables,
    mounts: [readOnly("config", configFolder), { name: "config-out", mountPath: outputFolder }],
    watchedMounts: ruleMounts(parts.ruleConfigMaps),
  });
}

function volumes(prometheus: AnyPrometheus, { ruleConfigMaps }: PrometheusPod): readonly Volume[] {
  const { spec } = prometheus;
  return [
    { name: "config", secret: { secretName: prefixed(prometheus) } },
    tlsAssetsVolume(tlsSecretName(prometheus)),
    outputVolume,
    ...dataVolumes(spec.storage, volumeName(prometheus)),
    ...namedVolumes(spec),
    ...ruleConfigMaps.map((each): Volume => ({ name: each, configMap: { name: each, optional: true } })),
    ...(hasLogVolume(prometheus) ? [{ name: "log-file", emptyDir: {} }] : []),
    { name: "web-config", secret: { secretName: webConfigSecretName(prometheus) } },
    ...tlsFiles(prometheus).volumes,
  ];
}
