/** Everything that a cluster needs to run an operator, as objects to apply. */
import {
  ClusterRole,
  ClusterRoleBinding,
  Deployment,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from "@setpoint/api";
import { deepEqual, type KubeObject } from "@setpoint/apimachinery";
import type { LogLevel } from "@setpoint/host";
import { accessRoles } from "./access-roles.ts";
import { clusterScopedRules } from "./rights/cluster-scoped.ts";
import type { Operator } from "./operator.ts";
import type { PolicyRule } from "./policy-rule.ts";
import { relatedImageVariable } from "./related-image.ts";
import { metricsPort, statusPort } from "./status-ports.ts";
import type { CertificateFiles } from "./process/status-certificate.ts";
import { certificateFileVariable, keyFileVariable, webhookInstallation } from "./webhook-manifests.ts";
import { needsWebhookServer, secretRules, webhookRules } from "./webhook-rules.ts";

/** The image and the namespace of the operator's Deployment, and optional extras. */
export interface InstallOptions {
  readonly image: string;
  /** Where the operator's own pod lives. */
  readonly namespace: string;
  /** Arguments before those of `run`: for an image with several programs, the one that runs. */
  readonly args?: readonly string[];
  /** The flags of `setpoint run` in the pod. */
  readonly run?: InstalledRun;
  /** Objects that not every cluster wants. */
  readonly extras?: readonly InstallExtra[];
  /**
   * Where the pod finds the certificate of its webhooks, when the installer issues it and registers them, as
   * the Operator Lifecycle Manager does. The operator then needs no rights for that.
   */
  readonly webhookCertificate?: CertificateFiles;
  /** In place of the operator's declared rules: those that a recording has shown, for instance. */
  readonly rules?: readonly PolicyRule[];
}

/** How the operator runs in its pod. */
export interface InstalledRun {
  /** The namespaces that it looks at, in each of which it gets a Role; default: all, by a ClusterRole. */
  readonly namespaces?: readonly string[];
  readonly logLevel?: LogLevel;
  /** Default 8080. */
  readonly port?: number;
  /** Default 8443. */
  readonly metricsPort?: number;
  readonly leaseDurationSeconds?: number;
}

/**
 * A NetworkPolicy lets others reach the operator's health, metrics and webhooks alone; what the operator may
 * reach is left open, because the address of an API server is the cluster's. A PodDisruptionBudget lets a
 * drain take one replica at a time. A metrics Service gives the metrics of all replicas a name; a
 * ServiceMonitor, which the Prometheus operator has to know, finds it.
 */
export type InstallExtra = "NetworkPolicy" | "PodDisruptionBudget" | "MetricsService" | "ServiceMonitor";

const metricsPortName = "metrics";

/**
 * To ask the server who wants to see its metrics and whether he may; what Kubernetes grants as
 * `system:auth-delegator`.
 */
const reviewRules: readonly PolicyRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/**
 * The objects in the order in which they have to be applied. The rules are those of the operator, and those
 * to ask who reads its metrics; its own namespace holds its lease. The roles `view`, `edit` and `admin` of
 * the cluster get the operator's kinds.
 */
export function installManifests(given: Operator, options: InstallOptions): readonly KubeObject[] {
  const operator = options.webhookCertificate === undefined ? given : withoutOwnCertificates(given);
  const name = `${operator.name}-operator`;
  const labels = { "app.kubernetes.io/name": name };
  const own = { name, namespace: options.namespace, labels };
  const { run = {} } = options;
  const webhooks = webhookInstallation(operator, own);
  return [
    Namespace({ name: options.namespace }),
    ...webhooks.crds,
    ServiceAccount(own),
    ...roles(operator, own, options.rules ?? operator.rules, run.namespaces),
    ...accessRoles(name, labels, webhooks.crds),
    deployment(own, options, operator),
    ...webhooks.objects,
    ...(options.extras ?? []).map((extra) => extraMakers[extra](own, webhooks.ports, run)),
  ];
}

/** The installer registers its webhooks and keeps their keys. */
function withoutOwnCertificates(operator: Operator): Operator {
  const { name, webhooks, kinds } = operator;
  const without = (rules: readonly PolicyRule[], unused: readonly PolicyRule[]): readonly PolicyRule[] =>
    rules.filter((rule) => !unused.some((each) => deepEqual(each, rule)));
  return {
    ...operator,
    rules: without(operator.rules, webhookRules(name, webhooks, kinds)),
    ownRules: without(operator.ownRules, secretRules(name, webhooks, kinds)),
  };
}

/** The variables that name the files, for an operator that listens for API servers. */
function certificateVariables(
  { webhooks, kinds }: Operator,
  files: CertificateFiles | undefined,
): readonly { readonly name: string; readonly value: string }[] {
  if (files === undefined || !needsWebhookServer(webhooks, kinds)) return [];
  return [
    { name: certificateFileVariable, value: files.certificateFile },
    { name: keyFileVariable, value: files.keyFile },
  ];
}

/** In all namespaces by a ClusterRole, or in some by a Role in each; its lease is in its own namespace. */
function roles(
  operator: Operator,
  own: OwnMeta,
  rules: readonly PolicyRule[],
  namespaces: readonly string[] | undefined,
): readonly KubeObject[] {
  const { name, labels, namespace } = own;
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  const clusterRules = namespaces === undefined ? rules : clusterScopedRules(operator, rules);
  const namespacedRules = rules.filter((rule) => !clusterRules.includes(rule));
  const places = new Set([namespace, ...(namespaces ?? [])]);
  return [
    ClusterRole({ name, labels, rules: [...clusterRules, ...reviewRules] }),
    ClusterRoleBinding({ name, labels, roleRef: roleRef("ClusterRole"), subjects }),
    ...[...places].flatMap((place) => {
      const there = { name, namespace: place, labels };
      const lease = place === namespace ? operator.ownRules : [];
      const work = namespaces?.includes(place) === true ? namespacedRules : [];
      return [
        Role({ ...there, rules: [...lease, ...work] }),
        RoleBinding({ ...there, roleRef: roleRef("Role"), subjects }),
      ];
    }),
  ];
}

interface OwnMeta {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

type MakeExtra = (own: OwnMeta, webhookPorts: readonly number[], run: InstalledRun) => KubeObject;

const extraMakers: Readonly<Record<InstallExtra, MakeExtra>> = {
  NetworkPolicy: networkPolicy,
  PodDisruptionBudget: disruptionBudget,
  MetricsService: metricsService,
  ServiceMonitor: serviceMonitor,
};

function networkPolicy(own: OwnMeta, webhookPorts: readonly number[], run: InstalledRun): NetworkPolicy {
  const ownPorts = [run.port ?? statusPort, run.metricsPort ?? metricsPort];
  const ports = [...ownPorts, ...webhookPorts].map((port) => ({ port, protocol: "TCP" as const }));
  return NetworkPolicy({
    ...own,
    spec: { podSelector: { matchLabels: own.labels }, policyTypes: ["Ingress"], ingress: [{ ports }] },
  });
}

function disruptionBudget(own: OwnMeta): PodDisruptionBudget {
  return PodDisruptionBudget({ ...own, spec: { maxUnavailable: 1, selector: { matchLabels: own.labels } } });
}

function metricsService(own: OwnMeta): Service {
  const ports = [{ name: metricsPortName, port: metricsPort, targetPort: metricsPortName, protocol: "TCP" as const }];
  return Service({ ...own, name: `${own.name}-metrics`, spec: { selector: own.labels, ports } });
}

function serviceMonitor(own: OwnMeta): KubeObject & { readonly spec: object } {
  // Prometheus shows its own account's token; it needs `get` on the nonResourceURL.
  const bearerTokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  // Each process makes a certificate of its own, which Prometheus cannot know.
  const tlsConfig = { insecureSkipVerify: true };
  const where = { port: metricsPortName, path: "/metrics", scheme: "https", tlsConfig };
  // Metrics of an object have the object's namespace, and not that of the operator.
  const endpoints = [{ ...where, interval: "30s", honorLabels: true, bearerTokenFile }];
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: own,
    spec: { selector: { matchLabels: own.labels }, endpoints },
  };
}

/** What follows the image's entrypoint, such as `setpoint run FILE`; nothing when nothing is set. */
function argsOf({ args: first = [], run = {} }: InstallOptions): { readonly args?: readonly string[] } {
  const { namespaces = [], logLevel, port, metricsPort: tlsPort, leaseDurationSeconds } = run;
  const flags = { "log-level": logLevel, port, "metrics-port": tlsPort, "lease-duration": leaseDurationSeconds };
  const set = Object.entries(flags).filter(([, value]) => value !== undefined);
  const flagged = [...namespaces.map((each) => ["namespace", each] as const), ...set];
  const args = [...first, ...flagged.flatMap(([flag, value]) => [`--${flag}`, String(value)])];
  return args.length === 0 ? {} : { args };
}

function deployment(own: OwnMeta, options: InstallOptions, operator: Operator): Deployment {
  const { image, run = {} } = options;
  const port = run.port ?? statusPort;
  const fromField = (fieldPath: string): object => ({ valueFrom: { fieldRef: { fieldPath } } });
  return Deployment({
    ...own,
    spec: {
      replicas: 1,
      selector: { matchLabels: own.labels },
      template: {
        metadata: { labels: own.labels },
        spec: {
          serviceAccountName: own.name,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65_532,
            runAsGroup: 65_532,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: "operator",
              image,
              imagePullPolicy: "IfNotPresent",
              ...argsOf(options),
              env: [
                { name: "POD_NAME", ...fromField("metadata.name") },
                { name: "POD_IP", ...fromField("status.podIP") },
                // An operator starts pods of its own image, such as those that move backups.
                { name: "SETPOINT_OPERATOR_IMAGE", value: image },
                ...certificateVariables(operator, options.webhookCertificate),
                ...operator.relatedImages.map((each) => ({ name: relatedImageVariable(each.name), value: each.image })),
              ],
              ports: [
                { name: "status", containerPort: port },
                { name: metricsPortName, containerPort: run.metricsPort ?? metricsPort },
              ],
              livenessProbe: {
                httpGet: { path: "/healthz", port },
                periodSeconds: 10,
                failureThreshold: 3,
              },
              readinessProbe: { httpGet: { path: "/readyz", port }, periodSeconds: 1 },
              resources: { requests: { cpu: "50m", memory: "96Mi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  });
}
