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
  ServiceAccount,
} from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Operator } from "./operator.ts";

export interface InstallOptions {
  readonly image: string;
  /** Where the operator's own pod lives. */
  readonly namespace: string;
  /** Objects that not every cluster wants. */
  readonly extras?: readonly InstallExtra[];
}

/**
 * A NetworkPolicy lets others reach the operator's health and metrics alone; what the operator may reach is left open, because
 * the address of an API server is the cluster's. A PodDisruptionBudget lets a drain take one replica at a time.
 */
export type InstallExtra = "NetworkPolicy" | "PodDisruptionBudget";

const statusPort = 8080;

/**
 * The objects in the order in which they have to be applied. The rules are those of the operator and nothing more; its own
 * namespace holds its lease.
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
  return [
    Namespace({ name: options.namespace }),
    ...operator.crds(),
    ServiceAccount(own),
    ClusterRole({ name, labels, rules: operator.rules }),
    ClusterRoleBinding({ name, labels, roleRef: roleRef("ClusterRole"), subjects }),
    Role({ ...own, rules: operator.ownRules }),
    RoleBinding({ ...own, roleRef: roleRef("Role"), subjects }),
    deployment(own, options.image),
    ...(options.extras ?? []).map((extra) => (extra === "NetworkPolicy" ? networkPolicy(own) : disruptionBudget(own))),
  ];
}

interface OwnMeta {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

function networkPolicy(own: OwnMeta): NetworkPolicy {
  const ports = [{ port: statusPort, protocol: "TCP" as const }];
  return NetworkPolicy({
    ...own,
    spec: { podSelector: { matchLabels: own.labels }, policyTypes: ["Ingress"], ingress: [{ ports }] },
  });
}

function disruptionBudget(own: OwnMeta): PodDisruptionBudget {
  return PodDisruptionBudget({ ...own, spec: { maxUnavailable: 1, selector: { matchLabels: own.labels } } });
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
              ],
              ports: [{ name: "status", containerPort: statusPort }],
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
