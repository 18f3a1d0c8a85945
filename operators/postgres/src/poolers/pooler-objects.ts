/** The Deployment, the Service and the disruption budget of a pooler; pure. */
import type { MemberSet, ServiceRole } from "@setpoint/data-service";
import { Deployment } from "setpoint/kinds";
import { poolerCertificateSecret } from "../kind/certificates.ts";
import { managerPort, poolerPort, postgresPort, probePort, programPath } from "../kind/names.ts";
import { poolerImage } from "../kind/related-images.ts";
import type { PostgresPooler } from "./postgres-pooler.ts";

export const poolerLabel = "postgres.setpoint.dev/pooler";
/** An annotation of the Deployment: what its objects were made of. */
export const objectsAnnotation = "postgres.setpoint.dev/objects";

/** The user `pgbouncer` of the images of CloudNativePG. */
const poolerUser = 998;
/** Open transactions end first. */
const graceSeconds = 60;

/** What its Service and its budget are made of. */
export function poolerSet({ metadata: { name = "", namespace = "", uid } }: PostgresPooler): MemberSet {
  return { name, namespace, uid, label: poolerLabel };
}

export const poolerService: ServiceRole = {
  nameOf: (pooler) => pooler,
  ports: [{ name: "postgres", port: postgresPort, protocol: "TCP", targetPort: poolerPort }],
  rest: {},
};

/** A drain takes one pod at a time. */
export function poolersLeft({ spec }: PostgresPooler): number {
  return Math.max(0, spec.instances - 1);
}

/** What a Deployment was made of; another text wants another one. */
export function objectsText({ metadata: { generation = 0 } }: PostgresPooler, managerImage: string): string {
  return JSON.stringify([generation, managerImage]);
}

function labelsOf({ metadata: { name = "" } }: PostgresPooler): Readonly<Record<string, string>> {
  return { [poolerLabel]: name };
}

/** `managerImage` is the operator's own, which has the manager. */
export function poolerDeployment(pooler: PostgresPooler, managerImage: string): Deployment {
  const { name = "", namespace = "" } = pooler.metadata;
  const labels = labelsOf(pooler);
  return Deployment({
    name,
    namespace,
    labels,
    annotations: { [objectsAnnotation]: objectsText(pooler, managerImage) },
    spec: {
      replicas: pooler.spec.instances,
      selector: { matchLabels: labels },
      // A new pod serves before an old one ends.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { metadata: { labels }, spec: podSpec(pooler, managerImage) },
    },
  });
}

type PodSpec = NonNullable<NonNullable<Deployment["spec"]>["template"]["spec"]>;
type Container = PodSpec["containers"][number];

const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

function podSpec(pooler: PostgresPooler, managerImage: string): PodSpec {
  const { name = "" } = pooler.metadata;
  return {
    terminationGracePeriodSeconds: graceSeconds,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: poolerUser,
      runAsGroup: poolerUser,
      fsGroup: poolerUser,
      seccompProfile: { type: "RuntimeDefault" },
    },
    topologySpreadConstraints: ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: labelsOf(pooler) },
    })),
    initContainers: [
      {
        name: "install-manager",
        image: managerImage,
        imagePullPolicy: "IfNotPresent",
        args: ["install-manager", programPath],
        volumeMounts: [{ name: "program", mountPath: programPath }],
        securityContext: containerSecurity,
        terminationMessagePolicy: "FallbackToLogsOnError",
      },
    ],
    containers: [containerOf(pooler)],
    volumes: [
      { name: "program", emptyDir: {} },
      { name: "run", emptyDir: {} },
      { name: "tmp", emptyDir: {} },
      {
        name: "tls",
        secret: { secretName: poolerCertificateSecret(pooler.spec.cluster, name), defaultMode: 0o440 },
      },
    ],
  };
}

function containerOf({ spec }: PostgresPooler): Container {
  const { requests, limits } = spec.resources ?? {};
  const probe = (path: string, periodSeconds: number) => ({
    httpGet: { path, port: probePort },
    periodSeconds,
    timeoutSeconds: 3,
    failureThreshold: 3,
  });
  return {
    name: "pgbouncer",
    image: spec.image ?? poolerImage,
    imagePullPolicy: "IfNotPresent",
    // By the loader that came along, which finds Node's libraries and leaves those of the image alone.
    command: [`${programPath}/lib/ld.so`, "--library-path", `${programPath}/lib`, `${programPath}/node`],
    args: ["--max-semi-space-size=1", `${programPath}/program/manager/pooler/main.js`],
    ports: [
      { name: "postgres", containerPort: poolerPort },
      { name: "manager", containerPort: managerPort },
      { name: "probes", containerPort: probePort },
    ],
    resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
    volumeMounts: [
      { name: "program", mountPath: programPath, readOnly: true },
      { name: "run", mountPath: "/run/setpoint" },
      { name: "tmp", mountPath: "/tmp" },
      { name: "tls", mountPath: "/etc/postgres/tls/pooler", readOnly: true },
    ],
    readinessProbe: probe("/ready", 1),
    livenessProbe: probe("/alive", 5),
    securityContext: containerSecurity,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}
