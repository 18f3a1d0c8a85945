/** The pod and the claim of one instance. */
import type { ServerArchive } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { certificateSecret } from "./certificates.ts";
import { labels } from "./labels.ts";
import {
  appSecretName,
  archivePath,
  claimName,
  managerPort,
  metricsPort,
  otherServerPath,
  nextProgramsPath,
  postgresPort,
  probePort,
  programPath,
} from "./names.ts";
import { nextProgramsContainer } from "./next-programs.ts";
import { otherServerKeys } from "./other-server-keys.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

/** The user `postgres` of the official images. */
export const instanceUser = 999;
/** A primary ends its sessions, and waits until replicas have received what was committed. */
const graceSeconds = 30;

const podSecurity = {
  runAsNonRoot: true,
  runAsUser: instanceUser,
  runAsGroup: instanceUser,
  fsGroup: instanceUser,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
} as const;

const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

export function instanceImage({ spec }: PostgresCluster): string {
  return spec.image ?? `docker.io/library/postgres:${spec.version}`;
}

/** What of the spec a running pod cannot follow. */
export function templateText(cluster: PostgresCluster, archive: ServerArchive | undefined): string {
  return JSON.stringify([instanceImage(cluster), cluster.spec.resources ?? {}, archive?.variable.value ?? ""]);
}

/** Whether a pod is as the spec asks; `archive` is undefined also while the store is refused. */
export function isTemplateAsWanted(pod: Pod, cluster: PostgresCluster, archive: ServerArchive | undefined): boolean {
  const present = pod.metadata.annotations?.[labels.template];
  if (present === templateText(cluster, archive)) return true;
  // A store that may not be used at the moment is no reason to restart a server.
  const isStoreRefused = cluster.spec.archive !== undefined && archive === undefined;
  return isStoreRefused && present?.startsWith(templateText(cluster, undefined).replace(/""\]$/, "")) === true;
}

/** What a pod that is not as wanted will have, in words. */
export function templateChange(pod: Pod, cluster: PostgresCluster): string {
  const present = pod.spec?.containers.find(({ name }) => name === "postgres")?.image;
  const wanted = instanceImage(cluster);
  return present === undefined || present === wanted
    ? "spec.resources or the store of its archive has changed"
    : `image ${present} becomes ${wanted}`;
}

/** `managerImage` is the operator's own, which has the instance manager and the archiver. */
export function instancePod(
  cluster: PostgresCluster,
  instance: string,
  {
    managerImage,
    archive,
    nextImage,
  }: {
    readonly managerImage: string;
    readonly archive: ServerArchive | undefined;
    /** Of the next major version, whose programs the pod has too. */
    readonly nextImage?: string | undefined;
  },
): Pod {
  const { name = "", namespace = "" } = cluster.metadata;
  return Pod({
    name: instance,
    namespace,
    labels: { [labels.cluster]: name, [labels.instance]: instance, [labels.role]: "none" },
    annotations: {
      [labels.template]: templateText(cluster, archive),
      ...(nextImage === undefined ? {} : { [labels.nextImage]: nextImage }),
    },
    spec: {
      hostname: instance,
      subdomain: name,
      restartPolicy: "Always",
      terminationGracePeriodSeconds: graceSeconds,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: podSecurity,
      topologySpreadConstraints: spread(name),
      initContainers: [
        installer(managerImage),
        ...(nextImage === undefined ? [] : [nextProgramsContainer(nextImage, containerSecurity)]),
      ],
      containers: [
        server(cluster, instance, nextImage),
        ...(archive === undefined ? [] : [archiver(managerImage, archive)]),
      ],
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: claimName(instance, cluster.status?.restored) } },
        { name: "program", emptyDir: {} },
        ...(nextImage === undefined ? [] : [{ name: "next", emptyDir: {} }]),
        { name: "run", emptyDir: {} },
        { name: "archive", emptyDir: {} },
        { name: "tmp", emptyDir: {} },
        { name: "app", secret: { secretName: appSecretName(name), defaultMode: 0o440 } },
        ...(["server", "replication"] as const).map((role) => ({
          name: `${role}-tls`,
          secret: { secretName: certificateSecret(name, role), defaultMode: 0o440 },
        })),
        ...otherServerVolume(cluster),
        ...(archive?.mounts ?? []).map(({ volume }) => volume),
      ],
    },
  });
}

function otherServerVolume(cluster: PostgresCluster): NonNullable<NonNullable<Pod["spec"]>["volumes"]> {
  const keys = otherServerKeys(cluster);
  if (keys.length === 0) return [];
  const sources = keys.map(({ name, key, path }) => ({ secret: { name, items: [{ key, path }] } }));
  return [{ name: "import", projected: { sources, defaultMode: 0o440 } }];
}

type Container = NonNullable<NonNullable<Pod["spec"]>["containers"]>[number];

function installer(image: string): Container {
  return {
    name: "install-manager",
    image,
    imagePullPolicy: "IfNotPresent",
    args: ["install-manager", programPath],
    volumeMounts: [{ name: "program", mountPath: programPath }],
    securityContext: containerSecurity,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

/** It alone has the access to the store. */
function archiver(image: string, { variable, mounts, user }: ServerArchive): Container {
  return {
    name: "archiver",
    image,
    imagePullPolicy: "IfNotPresent",
    args: ["archive"],
    env: [variable],
    resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "512Mi" } },
    volumeMounts: [
      { name: "archive", mountPath: archivePath },
      { name: "tmp", mountPath: "/tmp" },
      ...mounts.map(({ volume, path, readOnly }) => ({ name: volume.name, mountPath: path, readOnly })),
    ],
    securityContext: { ...containerSecurity, runAsUser: user },
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

function server(cluster: PostgresCluster, instance: string, nextImage: string | undefined): Container {
  const { resources } = cluster.spec;
  return {
    name: "postgres",
    image: instanceImage(cluster),
    imagePullPolicy: "IfNotPresent",
    // By the loader that came along, which finds Node's libraries and leaves those of PostgreSQL alone.
    command: [`${programPath}/lib/ld.so`, "--library-path", `${programPath}/lib`, `${programPath}/node`],
    args: ["--max-semi-space-size=1", `${programPath}/program/manager/main.js`, instance],
    ports: [
      { name: "postgres", containerPort: postgresPort },
      { name: "manager", containerPort: managerPort },
      { name: "probes", containerPort: probePort },
      { name: "metrics", containerPort: metricsPort },
    ],
    ...(resources === undefined ? {} : { resources: withoutAbsent(resources) }),
    volumeMounts: [
      { name: "data", mountPath: "/var/lib/postgresql/data" },
      { name: "program", mountPath: programPath, readOnly: true },
      ...(nextImage === undefined ? [] : [{ name: "next", mountPath: nextProgramsPath, readOnly: true }]),
      { name: "run", mountPath: "/run/setpoint" },
      { name: "archive", mountPath: archivePath },
      { name: "tmp", mountPath: "/tmp" },
      { name: "app", mountPath: "/etc/postgres/app", readOnly: true },
      { name: "server-tls", mountPath: "/etc/postgres/tls/server", readOnly: true },
      { name: "replication-tls", mountPath: "/etc/postgres/tls/replication", readOnly: true },
      ...(otherServerKeys(cluster).length === 0
        ? []
        : [{ name: "import", mountPath: otherServerPath, readOnly: true }]),
    ],
    readinessProbe: {
      httpGet: { path: "/ready", port: probePort },
      periodSeconds: 1,
      timeoutSeconds: 3,
      failureThreshold: 2,
    },
    // Only a manager that hangs is restarted: what becomes of its server, it decides itself.
    livenessProbe: {
      httpGet: { path: "/alive", port: probePort },
      periodSeconds: 5,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    securityContext: containerSecurity,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

function withoutAbsent({ requests, limits }: NonNullable<PostgresCluster["spec"]["resources"]>): object {
  return { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) };
}

/** Over zones, then over nodes, as far as there are some. */
function spread(cluster: string): NonNullable<NonNullable<Pod["spec"]>["topologySpreadConstraints"]>[number][] {
  return ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { [labels.cluster]: cluster } },
  }));
}

/** `restoreId` is that of the restore whose data the instance gets; undefined: those from before any. */
export function instanceClaim(
  cluster: PostgresCluster,
  instance: string,
  restoreId: string | undefined,
): PersistentVolumeClaim {
  const { name = "", namespace = "", uid = "" } = cluster.metadata;
  const { size, storageClassName } = cluster.spec.storage;
  return PersistentVolumeClaim({
    name: claimName(instance, restoreId),
    namespace,
    labels: { [labels.cluster]: name, [labels.instance]: instance },
    annotations: {
      [labels.clusterUid]: uid,
      [labels.instance]: instance,
      ...(restoreId === undefined ? {} : { [labels.restore]: restoreId }),
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  });
}

/** Where the operator reaches the manager of a pod: by its address, which needs no DNS. */
export function managerAddress(pod: Pod | undefined): string | undefined {
  const ip = pod?.status?.podIP;
  return ip === undefined || ip === "" ? undefined : `https://${ip}:${managerPort}`;
}
