/** The probes of the test on `setpoint up` and of the tour of a genuine cluster. */
import { Namespace, NetworkPolicy, Pod, Role, RoleBinding, Service, ServiceAccount } from "@setpoint/api";
import { findReleaseOperator } from "@setpoint/cli";
import type { Client } from "@setpoint/client";
import { ComplianceProbe } from "../../operators/compliance-probe/src/index.ts";

export type ProbeStatus = NonNullable<ComplianceProbe["status"]>;

const image = findReleaseOperator("compliance-probe")?.image ?? "";

export const strictNamespace = "strict";

/** A service that answers everyone, unless a policy says otherwise. */
export async function createVault(client: Client): Promise<void> {
  const labels = { app: "vault" };
  const command = ["node", "-e", 'require("node:http").createServer((_, answer) => answer.end()).listen(9000)'];
  const readinessProbe = { tcpSocket: { port: 9_000 }, periodSeconds: 1 };
  const containers = [{ name: "vault", image, command, readinessProbe }];
  await client.create(Pod, Pod({ name: "vault", namespace: "default", labels, spec: { containers } }));
  const spec = { selector: labels, ports: [{ port: 9_000 }] };
  await client.create(Service, Service({ name: "vault", namespace: "default", spec }));
}

export async function isVaultReady(client: Client): Promise<boolean> {
  const { status } = await client.get(Pod, { name: "vault", namespace: "default" });
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** A pod that asks for nothing, and one whose processes are root. */
export async function createProbes(client: Client): Promise<void> {
  await client.create(ComplianceProbe, ComplianceProbe({ name: "plain", namespace: "default", spec: {} }));
  const root = { securityContext: { runAsUser: 0 } };
  await client.create(ComplianceProbe, ComplianceProbe({ name: "root", namespace: "default", spec: { pod: root } }));
}

/** A namespace as it should be, with an account that may create pods. */
export async function createStrictNamespace(client: Client): Promise<void> {
  const namespace = strictNamespace;
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await client.create(Namespace, Namespace({ name: namespace, labels }));
  await client.create(ServiceAccount, ServiceAccount({ name: "deployer", namespace }));
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["create"] }];
  await client.create(Role, Role({ name: "deployer", namespace, rules }));
  const subjects = [{ kind: "ServiceAccount", name: "deployer", namespace }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "deployer" };
  await client.create(RoleBinding, RoleBinding({ name: "deployer", namespace, roleRef, subjects }));
  const toApi = [{ ports: [{ port: 443 }, { port: 6443 }] }];
  const podSelector = { matchLabels: { app: "shop" } };
  await client.create(
    NetworkPolicy,
    NetworkPolicy({ name: "api-alone", namespace, spec: { podSelector, policyTypes: ["Egress"], egress: toApi } }),
  );
  await client.create(ComplianceProbe, strict);
}

const strict = ComplianceProbe({
  name: "strict",
  namespace: strictNamespace,
  spec: {
    serviceAccountName: "deployer",
    deniedServices: ["vault.default.svc:9000"],
    accepted: [
      { act: "ptrace", reason: "processes of one container may attach to each other" },
      { act: "denied-service-resolve", reason: "names are no secret" },
    ],
    pod: {
      metadata: { labels: { app: "shop" } },
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containerSecurityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
      resources: { limits: { memory: "256Mi" } },
    },
  },
});

/** The acts with this verdict. */
export const actsOf = ({ results = [] }: ProbeStatus, verdict: string): readonly string[] =>
  results.filter((each) => each.verdict === verdict).map(({ act }) => act);
