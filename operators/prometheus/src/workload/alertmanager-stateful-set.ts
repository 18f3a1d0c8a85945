/** The StatefulSet of an Alertmanager; pure. */
import type { PodSpec, StatefulSet } from "setpoint/kinds";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { Alertmanager, AlertmanagerSpec } from "../kind/alertmanager.ts";
import { templatesFolder } from "../notification/configuration.ts";
import { receiverTlsFolder } from "../notification/receiver-http.ts";
import { alertmanagerArguments, replicasOf } from "./alertmanager-arguments.ts";
import {
  alertmanagerConfigFile,
  alertmanagerConfigFolder,
  alertmanagerFolder,
  alertmanagerLabels,
  alertmanagerName,
  alertmanagerOutputFile,
  alertmanagerOutputFolder,
  alertmanagerPort,
  alertmanagerSelector,
  alertmanagerService,
  alertmanagerWebFolder,
  clusterTlsFile,
  clusterTlsFolder,
  generatedSecretName,
  meshPort,
} from "./alertmanager-names.ts";
import { clusterClientFiles } from "./cluster-tls.ts";
import { dataVolumes, storageMount } from "./data-volume.ts";
import { routePrefix } from "./flags.ts";
import type { Container } from "./merge-containers.ts";
import { labels, manager, webConfigFile } from "./names.ts";
import { readOnly, serverImage } from "./pod-parts.ts";
import { reloaderContainers, type ReloaderContainers } from "./reloader-container.ts";
import {
  accountOf,
  namedMounts,
  namedVolumes,
  outputVolume,
  reloadUrl,
  serverContainer,
  serverPod,
  tlsAssetsVolume,
  webProbe,
} from "./server-pod.ts";
import { serverStatefulSet } from "./server-set.ts";
import { type MountedFiles, serverTlsFiles } from "./web-server.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

export interface AlertmanagerWorkload {
  readonly version: Version;
  /** The operator's own image, which has the reloader. */
  readonly reloaderImage: string;
}

const defaultGraceSeconds = 120;
const repository = "quay.io/prometheus/alertmanager";

export function alertmanagerStatefulSet(alertmanager: Alertmanager, workload: AlertmanagerWorkload): StatefulSet {
  const { metadata, spec } = alertmanager;
  const { name = "" } = metadata;
  return serverStatefulSet({
    owner: alertmanager,
    name: alertmanagerName(name),
    labels: alertmanagerLabels(name),
    service: alertmanagerService,
    replicas: replicasOf(spec),
    volume: volumeName(name),
    version: workload.version,
    container: "alertmanager",
    selector: alertmanagerSelector(name),
    podLabels: { [labels.managedBy]: manager },
    pod: podSpec(alertmanager, workload),
  });
}

function volumeName(alertmanager: string): string {
  return `${alertmanagerName(alertmanager)}-db`;
}

function podSpec(alertmanager: Alertmanager, workload: AlertmanagerWorkload): PodSpec {
  const { spec } = alertmanager;
  const { first, sidecar } = reloaders(spec, workload);
  return serverPod(spec, {
    graceSeconds: defaultGraceSeconds,
    account: accountOf(spec),
    initContainers: [first],
    containers: [server(alertmanager, workload), sidecar],
    volumes: volumes(alertmanager),
  });
}

function server(alertmanager: Alertmanager, { version }: AlertmanagerWorkload): Container {
  const { metadata, spec } = alertmanager;
  const name = metadata.name ?? "";
  const isLocal = spec.listenLocal === true;
  return {
    ...serverContainer(spec, {
      name: "alertmanager",
      image: serverImage(spec, repository, version),
      args: alertmanagerArguments(alertmanager, version),
    }),
    ports: [
      ...(isLocal ? [] : [{ name: spec.portName, containerPort: alertmanagerPort, protocol: "TCP" as const }]),
      { name: "mesh-tcp", containerPort: meshPort, protocol: "TCP" },
      { name: "mesh-udp", containerPort: meshPort, protocol: "UDP" },
    ],
    env: [
      { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      ...(isAtLeast(version, "0.30.0")
        ? [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }]
        : []),
    ],
    ...(isLocal ? {} : probes(spec)),
    resources: { ...spec.resources, requests: { memory: "200Mi", ...spec.resources?.requests } },
    volumeMounts: [
      readOnly("config-volume", alertmanagerConfigFolder),
      readOnly("config-out", alertmanagerOutputFolder),
      readOnly("tls-assets", receiverTlsFolder),
      storageMount(spec.storage, {
        name: volumeName(name),
        mountPath: "/alertmanager",
        subPath: "alertmanager-db",
      }),
      ...watchedMounts(spec),
      ...(spec.volumeMounts ?? []),
      { ...readOnly("web-config", `${alertmanagerWebFolder}/${webConfigFile}`), subPath: webConfigFile },
      ...tlsFiles(spec).mounts,
    ],
  };
}

function probes(spec: AlertmanagerSpec): Pick<Container, "livenessProbe" | "readinessProbe"> {
  return {
    livenessProbe: { ...webProbe(spec, routePrefix(spec), "healthy"), failureThreshold: 10 },
    readinessProbe: {
      ...webProbe(spec, routePrefix(spec), "ready"),
      initialDelaySeconds: 3,
      periodSeconds: 5,
      failureThreshold: 10,
    },
  };
}

/** What users mount besides the configuration; a change of it is loaded too. */
function watchedMounts(spec: AlertmanagerSpec): readonly Mount[] {
  return [
    ...(hasTemplates(spec) ? [readOnly("notification-templates", templatesFolder)] : []),
    ...namedMounts(spec, alertmanagerFolder),
  ];
}

function hasTemplates({ alertmanagerConfiguration }: AlertmanagerSpec): boolean {
  return (alertmanagerConfiguration?.templates ?? []).length > 0;
}

function reloaders(spec: AlertmanagerSpec, { reloaderImage }: AlertmanagerWorkload): ReloaderContainers {
  const folders = [alertmanagerConfigFolder, ...watchedMounts(spec).map(({ mountPath }) => mountPath)];
  return reloaderContainers({
    image: reloaderImage,
    imagePullPolicy: spec.imagePullPolicy,
    config: `${alertmanagerConfigFolder}/${alertmanagerConfigFile}`,
    output: alertmanagerOutputFile,
    reloadUrl: reloadUrl(spec, alertmanagerPort, routePrefix(spec)),
    listensLocally: spec.listenLocal === true,
    watched: folders.map((folder) => `--watch=${folder}`),
    env: [],
    mounts: [
      readOnly("config-volume", alertmanagerConfigFolder),
      { name: "config-out", mountPath: alertmanagerOutputFolder },
    ],
    watchedMounts: watchedMounts(spec),
  });
}

/** Of the own pages, and of the gossip. */
function tlsFiles({ web, clusterTLS }: AlertmanagerSpec): MountedFiles {
  const parts = [
    serverTlsFiles(web?.tlsConfig, alertmanagerWebFolder, "web-config-tls"),
    serverTlsFiles(clusterTLS?.server, `${clusterTlsFolder}/server_tls`, "cluster-tls-server"),
    clusterClientFiles(clusterTLS?.client, `${clusterTlsFolder}/client_tls`),
  ];
  const configuration: MountedFiles = {
    volumes: [],
    mounts:
      clusterTLS === undefined
        ? []
        : [{ ...readOnly("cluster-tls-config", `${clusterTlsFolder}/${clusterTlsFile}`), subPath: clusterTlsFile }],
  };
  const all = [...parts, configuration];
  return { volumes: all.flatMap(({ volumes: each }) => each), mounts: all.flatMap(({ mounts }) => mounts) };
}

function volumes({ metadata, spec }: Alertmanager): readonly Volume[] {
  const { name = "" } = metadata;
  return [
    { name: "config-volume", secret: { secretName: generatedSecretName(name) } },
    tlsAssetsVolume(`${alertmanagerName(name)}-tls-assets-0`),
    outputVolume,
    ...dataVolumes(spec.storage, volumeName(name)),
    ...(hasTemplates(spec) ? [templates(spec)] : []),
    ...namedVolumes(spec),
    { name: "web-config", secret: { secretName: `${alertmanagerName(name)}-web-config` } },
    ...(spec.clusterTLS === undefined
      ? []
      : [{ name: "cluster-tls-config", secret: { secretName: `${alertmanagerName(name)}-cluster-tls-config` } }]),
    ...tlsFiles(spec).volumes,
  ];
}

/** The first of two templates with the same file name wins. */
function templates({ alertmanagerConfiguration }: AlertmanagerSpec): Volume {
  const seen = new Set<string>();
  const sources = (alertmanagerConfiguration?.templates ?? []).flatMap(({ secret, configMap }) => {
    const { name = "", key = "" } = configMap ?? secret ?? {};
    if (seen.has(key)) return [];
    seen.add(key);
    const items = { name, items: [{ key, path: key }] };
    return [configMap === undefined ? { secret: items } : { configMap: items }];
  });
  return { name: "notification-templates", projected: { sources } };
}
