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
import type { KubeObject } from "@setpoint/apimachinery";
import type { Operator } from "./operator.ts";
import type { PolicyRule } from "./policy-rule.ts";
import { metricsPort, statusPort } from "./status-ports.ts";
import { webhookInstallation } from "./webhook-manifests.ts";

/** The image and the namespace of the operator's Deployment, and optional extras. */
export interface InstallOptions {
  readonly image: string;
  /** Where the operator's own pod lives. */
  readonly namespace: string;
  /** Objects that not every cluster wants. */
  readonly extras?: readonly InstallExtra[];
  /** In place of the operator's declared rules: those that a recording has shown, for instance. */
  readonly rules?: readonly PolicyRule[];
}

/**
 * A NetworkPolicy lets others reach the operator's health, metrics and webhooks alone; what the operator may reach is left open, because
 * the address of an API server is the cluster's. A PodDisruptionBudget lets a drain take one replica at a time. A metrics
 * Service gives the metrics of all replicas a name; a ServiceMonitor, which the Prometheus operator has to know, finds it.
 */
export type InstallExtra = "NetworkPolicy" | "PodDisruptionBudget" | "MetricsService" | "ServiceMonitor";

const metricsPortName = "metrics";

/** To ask the server who wants to see its metrics and whether he may; what Kubernetes grants as `system:auth-delegator`. */
const reviewRules: readonly PolicyRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/**
 * The objects in the order in which they have to be applied. The rules are those of the operator, and those to ask who reads its
 * metrics; its own namespace holds its lease.
 */
export function installManifests(operator: Operator, options: InstallOptions): readonly KubeObject[] {
  const name = `${operator.name}-operator`;
  const labels = { "app.kubernetes.io/name": name };
  const own = { name, namespace: options.namespace, labels };
  const subjects = [{ kind: "ServiceAccount", name, namespace: options.namespace }];
  const roleRef = (kind: string): { apiGroup: string; kind: string; name: string } => ({
    apiGroup: "rbac.authorization.k8s.io",
    kind,
    name,
  });
  const webhooks = webhookInstallation(operator, own);
  return [
    Namespace({ name: options.namespace }),
    ...webhooks.crds,
    ServiceAccount(own),
    ClusterRole({ name, labels, rules: [...(options.rules ?? operator.rules), ...reviewRules] }),
    ClusterRoleBinding({ name, labels, roleRef: roleRef("ClusterRole"), subjects }),
    Role({ ...own, rules: operator.ownRules }),
    RoleBinding({ ...own, roleRef: roleRef("Role"), subjects }),
    deployment(own, options.image),
    ...webhooks.objects,
    ...(options.extras ?? []).map((extra) => extraMakers[extra](own, webhooks.ports)),
  ];
}

interface OwnMeta {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

const extraMakers: Readonly<Record<InstallExtra, (own: OwnMeta, webhookPorts: readonly number[]) => KubeObject>> = {
  NetworkPolicy: networkPolicy,
  PodDisruptionBudget: disruptionBudget,
  MetricsService: metricsService,
  ServiceMonitor: serviceMonitor,
};

function networkPolicy(own: OwnMeta, webhookPorts: readonly number[]): NetworkPolicy {
  const ports = [statusPort, metricsPort, ...webhookPorts].map((port) => ({ port, protocol: "TCP" as const }));
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
  const endpoints = [{ ...where, interval: "30s", bearerTokenFile }];
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: own,
    spec: { selector: { matchLabels: own.labels }, endpoints },
  };
}

function deployment(own: OwnMeta, image: string): Deployment {
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
              env: [
                { name: "POD_NAME", ...fromField("metadata.name") },
                { name: "POD_IP", ...fromField("status.podIP") },
                // An operator starts pods of its own image, such as those that move backups.
                { name: "SETPOINT_OPERATOR_IMAGE", value: image },
              ],
              ports: [
                { name: "status", containerPort: statusPort },
                { name: metricsPortName, containerPort: metricsPort },
              ],
              livenessProbe: {
                httpGet: { path: "/healthz", port: statusPort },
                periodSeconds: 10,
                failureThreshold: 3,
              },
              readinessProbe: { httpGet: { path: "/readyz", port: statusPort }, periodSeconds: 1 },
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
