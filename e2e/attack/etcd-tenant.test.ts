/**
 * A service account that may create EtcdClusters and the kinds of backups, and nothing else, in a namespace
 * that enforces the level `restricted`.
 */
import {
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "@setpoint/api";
import { createClient, RestMapping, type Client } from "@setpoint/client";
import { startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import { Backup, BackupStore, Restore, x509Issuer } from "@setpoint/data-service";
import { EtcdCluster, etcdOperator, type EtcdGateway } from "@setpoint/etcd-operator";
import { silentLogger, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { installManifests } from "setpoint/install";
import { runOperator } from "setpoint/process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const host: Host = { ...systemHost(), log: silentLogger };
const namespace = "tenant";
const owner = { fieldManager: "owner" };
const waitMs = { timeout: 20_000, interval: 50 };

const away = (): Promise<never> => Promise.reject(new Error("etcd is away"));
/** No member ever answers: there are no nodes. */
const gateway: EtcdGateway = {
  ...{ members: away, status: away, position: away, measure: away, addLearner: away },
  ...{ authentication: away, enableAuthentication: away, resetRoot: away },
  ...{ proveLogin: away, ensureUser: away, dropUser: away, readKey: away, deleteKey: away },
  withCredentials: () => gateway,
  ...{ promote: away, remove: away, moveLeader: away },
  ...{ compact: away, defragment: away, disarm: away },
};

let plane: ControlPlane;
let admin: Client;
let tenant: Client;
let manager: ReturnType<typeof runOperator>;

beforeAll(async () => {
  plane = await startControlPlane({ host, controllers: true });
  admin = createClient(plane.transport, host);
  const operator = etcdOperator(gateway, {}, "none");
  const mapping = new RestMapping(admin, { clock: host.clock });
  for (const object of installManifests(operator, { image: "none", namespace: "setpoint-system" }))
    await admin.apply(await mapping.ofObject(object), object, { fieldManager: "test" });
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await admin.create(Namespace, Namespace({ name: namespace, labels }));
  await admin.create(ServiceAccount, ServiceAccount({ name: "tenant", namespace }));
  const verbs = ["create", "get"];
  const rules = [
    { apiGroups: ["etcd.setpoint.dev"], resources: ["etcdclusters"], verbs },
    { apiGroups: ["data.setpoint.dev"], resources: ["backups", "backupstores", "restores"], verbs },
  ];
  await admin.create(Role, Role({ name: "tenant", namespace, rules }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "tenant" };
  const subjects = [{ kind: "ServiceAccount", name: "tenant", namespace }];
  await admin.create(RoleBinding, RoleBinding({ name: "tenant", namespace, roleRef, subjects }));
  const spec = { selector: { app: "payments" }, ports: [{ port: 2379 }] };
  await admin.create(Service, Service({ name: "payments", namespace, spec }));
  tenant = createClient(
    plane.transportAs({ username: `system:serviceaccount:${namespace}:tenant`, groups: ["system:authenticated"] }),
    host,
  );
  manager = runOperator(operator, { transport: plane.transport, host });
});

afterAll(async () => {
  await manager?.stop();
  await plane?.[Symbol.asyncDispose]();
});

/** What the tenant gets for a spec: its pods, and what the operator says of it. */
async function ask(name: string, spec: object): Promise<{ readonly pods: readonly Pod[]; readonly accepted: string }> {
  const wanted = {
    ...EtcdCluster({ name, namespace, spec: { size: 1, version: "3.5.16", tls: { mode: "Disabled" } } }),
  };
  const object = { ...wanted, spec: { ...wanted.spec, ...spec } } as EtcdCluster;
  await vi.waitFor(() => tenant.create(EtcdCluster, object), waitMs);
  const accepted = await vi.waitFor(async () => {
    const { status } = await tenant.get(EtcdCluster, { name, namespace });
    const condition = status?.conditions?.find(({ type }) => type === "Accepted");
    expect(condition).toBeDefined();
    return `${String(condition?.["status"])}: ${String(condition?.["message"])}`;
  }, waitMs);
  const labelSelector = `etcd.setpoint.dev/cluster=${name}`;
  const list = async (): Promise<readonly Pod[]> => (await admin.listAll(Pod, { namespace, labelSelector })).items;
  if (accepted.startsWith("True")) await vi.waitFor(async () => expect(await list()).toHaveLength(1), waitMs);
  return { pods: await list(), accepted };
}

test("members are admitted where only restricted pods are", async () => {
  const plain = Pod({ name: "plain", namespace, spec: { containers: [{ name: "plain", image: "busybox" }] } });
  // Until the namespace has its account, that is what is missing.
  await vi.waitFor(() => expect(admin.create(Pod, plain)).rejects.toThrow("violates PodSecurity"), waitMs);
  const { pods } = await ask("plain", {});
  expect(pods[0]?.spec?.securityContext?.runAsNonRoot).toBe(true);
  expect(pods[0]?.spec?.automountServiceAccountToken).toBe(false);
});

test("the tenant may not create a pod itself", async () => {
  const pod = Pod({ name: "own", namespace, spec: { containers: [{ name: "own", image: "busybox" }] } });
  await expect(tenant.create(Pod, pod)).rejects.toMatchObject({ code: 403 });
});

test.each([
  ["image", { imageRepository: "evil.example.com/etcd" }, "spec.imageRepository"],
  ["traffic", { pod: { labels: { app: "payments" } } }, "spec.pod.labels[app]"],
  ["agent", { pod: { annotations: { "sidecar.istio.io/inject": "true" } } }, "spec.pod.annotations"],
  ["reserved", { pod: { tolerations: [{ operator: "Exists" }] } }, "spec.pod.tolerations[0]"],
])("a cluster that asks for another %s gets no pod, and its condition names the field", async (name, spec, field) => {
  const { pods, accepted } = await ask(name, spec);
  expect(pods).toEqual([]);
  expect(accepted).toContain(`False: ${field}`);
});

test.each([
  [{ options: { "data-dir=/": "x" } }, "spec.options"],
  [{ pod: { env: [{ name: "LD_PRELOAD", value: "/x.so" }] } }, "spec.pod.env[0].name"],
  [{ pod: { serviceAccountName: "etcd-operator" } }, "serviceAccountName"],
  [{ pod: { hostNetwork: true, volumes: [] } }, "hostNetwork"],
])("the server does not take %j", async (spec, field) => {
  const wanted = {
    ...EtcdCluster({ name: "refused", namespace, spec: { size: 1, version: "3.5.16", tls: { mode: "Disabled" } } }),
  };
  const object = { ...wanted, spec: { ...wanted.spec, ...spec } } as unknown as EtcdCluster;
  const created = tenant.create(EtcdCluster, object, { fieldValidation: "Strict" });
  await expect(created).rejects.toThrow(field);
});

/** The Secrets of a cluster, when the operator has had the time to make them. */
async function secretsOf(cluster: string): Promise<readonly string[]> {
  const labelSelector = `etcd.setpoint.dev/cluster=${cluster}`;
  return (await admin.listAll(Secret, { namespace, labelSelector })).items.map(({ metadata }) => metadata.name);
}

test("the tenant cannot sign itself into the cluster of another one", async () => {
  const victim = EtcdCluster({ name: "victim", namespace, spec: { size: 1, version: "3.5.16" } });
  await admin.create(EtcdCluster, victim);
  await vi.waitFor(async () => expect(await secretsOf("victim")).toContain("victim-ca"), waitMs);
  const { pods, accepted } = await ask("thief", { tls: { mode: "Enabled", authoritySecret: "victim-ca" } });
  expect(pods).toEqual([]);
  expect(accepted).toContain('False: spec.tls.authoritySecret: Secret "victim-ca" has an authority that the operator');
  expect(await secretsOf("thief")).toEqual([]);
});

test("a cluster of the tenant whose name is that of another one's Service does not take it over", async () => {
  const read = (): Promise<Service> => admin.get(Service, { name: "victim-client", namespace });
  const before = await vi.waitFor(read, waitMs);
  const spec = { size: 1, version: "3.5.16", tls: { mode: "Disabled" } } as const;
  await tenant.create(EtcdCluster, EtcdCluster({ name: "victim-client", namespace, spec }));
  await vi.waitFor(async () => {
    const { status } = await tenant.get(EtcdCluster, { name: "victim-client", namespace });
    expect(JSON.stringify(status?.conditions)).toContain('"victim-client\\" belongs to another');
  }, waitMs);
  const { metadata, spec: after } = await read();
  expect(after?.selector).toEqual({ "etcd.setpoint.dev/cluster": "victim" });
  expect(metadata.ownerReferences).toEqual(before.metadata.ownerReferences);
});

test("the tenant cannot use an authority of the company that nobody allowed", async () => {
  const { certificate, key } = x509Issuer.createAuthority({ commonName: "company", lifetimeMs: 1e10 }, host);
  const stringData = { "tls.crt": certificate, "tls.key": key };
  await admin.create(Secret, Secret({ name: "company", namespace, stringData }));
  const { pods, accepted } = await ask("forger", { tls: { mode: "Enabled", authoritySecret: "company" } });
  expect(pods).toEqual([]);
  expect(accepted).toContain("False: spec.tls.authoritySecret: ");
  expect(accepted).toContain("kubectl label secret company");
  expect(await secretsOf("forger")).toEqual([]);
});

const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "gone" };
const resources = { requests: { storage: "1Mi" } };
const copySpec = { size: 1, version: "3.5.16", volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources } };

/** Until the operator has said what stands against it. */
async function messageOf(kind: typeof Backup | typeof Restore, name: string): Promise<string> {
  return vi.waitFor(async () => {
    const { status } = await tenant.get<Backup | Restore>(kind, { name, namespace });
    expect(status?.message).toBeDefined();
    return status?.message ?? "";
  }, waitMs);
}

test.each<readonly [string, string, BackupStore["spec"]]>([
  ["claim", "persistentvolumeclaim data", { claim: { claimName: "data", prefix: "" } }],
  [
    "credentials",
    "secret bucket",
    {
      s3: {
        bucket: "theirs",
        prefix: "",
        region: "",
        endpoint: "https://evil.example.com",
        credentialsSecret: "bucket",
      },
    },
  ],
  [
    "keys",
    "secret bucket",
    { claim: { claimName: "shared", prefix: "" }, encryption: { keySecret: "bucket", activeKey: "secret-access-key" } },
  ],
])("a BackupStore of the tenant uses no %s that nobody allowed", async (what, named, spec) => {
  const storage = { accessModes: ["ReadWriteOnce"] as const, resources };
  const name = `store-${what}`;
  await admin.apply(PersistentVolumeClaim, PersistentVolumeClaim({ name: "data", namespace, spec: storage }), owner);
  const labels = { "data.setpoint.dev/backup-store": "true" };
  const shared = PersistentVolumeClaim({ name: "shared", namespace, labels, spec: storage });
  await admin.apply(PersistentVolumeClaim, shared, owner);
  await admin.apply(Secret, Secret({ name: "bucket", namespace, stringData: { "secret-access-key": "x" } }), owner);
  await tenant.create(BackupStore, BackupStore({ name, namespace, spec }));
  await tenant.create(Backup, Backup({ name, namespace, spec: { instance, store: name } }));
  expect(await messageOf(Backup, name)).toContain(`kubectl label ${named} --namespace=${namespace}`);
  const stored = { store: name, object: `etcdcluster/${namespace}/orders/uid/uid` };
  const restore = { instance, source: { stored }, newInstance: { name: `copy-${what}`, spec: copySpec } };
  await tenant.create(Restore, Restore({ name, namespace, spec: restore }));
  await vi.waitFor(async () => expect(await messageOf(Restore, name)).toContain(`kubectl label ${named}`), waitMs);
  const pods = await admin.listAll(Pod, { namespace, labelSelector: "data.setpoint.dev/task" });
  expect(pods.items.map(({ metadata }) => metadata.name)).toEqual([]);
});
