/** The StatefulSet of a ThanosRuler; pure. */
import type { PodSpec, StatefulSet } from "setpoint/kinds";
import { given } from "../generate/generation.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { ThanosRuler, ThanosRulerSpec } from "../kind/thanos-ruler.ts";
import { dataVolumes, storageMount } from "./data-volume.ts";
import type { Container } from "./merge-containers.ts";
import { labels, manager, webConfigFile } from "./names.ts";
import { readOnly, serverImage } from "./pod-parts.ts";
import { reloaderContainers } from "./reloader-container.ts";
import { rulerArguments, rulerKeys } from "./ruler-arguments.ts";
import { accountOf, reloadUrl, serverContainer, serverPod } from "./server-pod.ts";
import { serverStatefulSet } from "./server-set.ts";
import { grpcPort, thanosPort, thanosRepository } from "./thanos-flags.ts";
import {
  rulerConfigFolder,
  rulerLabels,
  rulerName,
  rulerRulesFolder,
  rulerSelector,
  rulerService,
  rulerStorageFolder,
  rulerWebFolder,
} from "./thanos-names.ts";
import { type MountedFiles, serverTlsFiles } from "./web-server.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

export interface RulerWorkload {
  readonly version: Version;
  /** The operator's own image, which has the reloader. */
  readonly reloaderImage: string;
  readonly ruleConfigMaps: readonly string[];
}

const defaultGraceSeconds = 120;

export function rulerReplicas({ replicas }: ThanosRulerSpec): number {
  return Math.max(replicas ?? 1, 0);
}

export function rulerStatefulSet(ruler: ThanosRuler, workload: RulerWorkload): StatefulSet {
  const { metadata, spec } = ruler;
  const { name = "" } = metadata;
  return serverStatefulSet({
    owner: ruler,
    name: rulerName(name),
    labels: rulerLabels(name),
    service: rulerService,
    replicas: rulerReplicas(spec),
    volume: volumeName(name),
    version: workload.version,
    container: "thanos-ruler",
    selector: rulerSelector(name),
    podLabels: { [labels.managedBy]: manager },
    pod: serverPod(spec, {
      graceSeconds: defaultGraceSeconds,
      account: accountOf(spec),
      initContainers: [],
      containers: [server(ruler, workload), reloader(spec, workload)],
      volumes: volumes(ruler, workload),
    }),
  });
}

function volumeName(ruler: string): string {
  return `${rulerName(ruler)}-data`;
}

function server({ metadata, spec }: ThanosRuler, { version, ruleConfigMaps }: RulerWorkload): Container {
  const web = { name: spec.portName, containerPort: thanosPort, protocol: "TCP" as const };
  const data = { name: volumeName(metadata.name ?? ""), mountPath: rulerStorageFolder };
  return {
    ...serverContainer(spec, {
      name: "thanos-ruler",
      image: serverImage(spec, thanosRepository, version),
      args: rulerArguments(spec, version),
    }),
    env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    ports: [{ name: "grpc", containerPort: grpcPort, protocol: "TCP" }, ...(spec.listenLocal === true ? [] : [web])],
    resources: { ...spec.resources, requests: { memory: "200Mi", ...spec.resources?.requests } },
    volumeMounts: [
      ...rulerKeys(spec).map(({ name }) => readOnly(name, `${rulerConfigFolder}/${name}`)),
      ...(servesByFile(version) ? webFiles(spec).mounts : []),
      storageMount(spec.storage, data),
      ...ruleMounts(ruleConfigMaps),
      ...(spec.volumeMounts ?? []),
    ],
  };
}

function ruleMounts(configMaps: readonly string[]): readonly Mount[] {
  return configMaps.map((name) => readOnly(name, `${rulerRulesFolder}/${name}`));
}

/** Older ones take no file that says how the own pages are served. */
function servesByFile(version: Version): boolean {
  return isAtLeast(version, "0.21.0");
}

function webFiles({ web }: ThanosRulerSpec): MountedFiles {
  const { volumes: secrets, mounts } = serverTlsFiles(web?.tlsConfig, rulerWebFolder, "web-config-tls");
  const file = { ...readOnly("web-config", `${rulerWebFolder}/${webConfigFile}`), subPath: webConfigFile };
  return { volumes: secrets, mounts: [file, ...mounts] };
}

/** There is no configuration to write: it has the rules loaded, and tells the operator so. */
function reloader(spec: ThanosRulerSpec, { version, reloaderImage, ruleConfigMaps }: RulerWorkload): Container {
  const { sidecar } = reloaderContainers({
    image: reloaderImage,
    imagePullPolicy: spec.imagePullPolicy,
    reloadUrl: reloadUrl(servesByFile(version) ? spec : {}, thanosPort, given(spec.routePrefix) ?? "/"),
    listensLocally: spec.listenLocal === true,
    watched: ruleConfigMaps.map((each) => `--rules=${rulerRulesFolder}/${each}`),
    env: [],
    mounts: [],
    watchedMounts: ruleMounts(ruleConfigMaps),
  });
  return sidecar;
}

function volumes({ metadata, spec }: ThanosRuler, { version, ruleConfigMaps }: RulerWorkload): readonly Volume[] {
  const { name = "" } = metadata;
  const web: Volume = { name: "web-config", secret: { secretName: `${rulerName(name)}-web-config` } };
  return [
    ...rulerKeys(spec).map(({ name: volume, secret, key }): Volume => {
      return { name: volume, secret: { secretName: secret, items: [{ key, path: key }] } };
    }),
    ...(servesByFile(version) ? [web, ...webFiles(spec).volumes] : []),
    ...ruleConfigMaps.map((each): Volume => ({ name: each, configMap: { name: each, optional: true } })),
    ...dataVolumes(spec.storage, volumeName(name)),
  ];
}
