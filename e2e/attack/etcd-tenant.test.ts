/**
 * A service account that may only create EtcdClusters, in a namespace that enforces the level `restricted`.
 */
import { Namespace, Pod, Role, RoleBinding, Service, ServiceAccount } from "@setpoint/api";
import { createClient, RestMapping, type Client } from "@setpoint/client";
import { startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import { EtcdCluster, etcdOperator, type EtcdGateway } from "@setpoint/etcd-operator";
import { silentLogger, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { installManifests } from "setpoint/install";
import { runOperator } from "setpoint/process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const host: Host = { ...systemHost(), log: silentLogger };
const namespace = "tenant";
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
  const operator = etcdOperator(gateway);
  const mapping = new RestMapping(admin, { clock: host.clock });
  for (const object of installManifests(operator, { image: "none", namespace: "setpoint-system" }))
    await admin.apply(await mapping.ofObject(object), object, { fieldManager: "test" });
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await admin.create(Namespace, Namespace({ name: namespace, labels }));
  await admin.create(ServiceAccount, ServiceAccount({ name: "tenant", namespace }));
  const rules = [{ apiGroups: ["etcd.setpoint.dev"], resources: ["etcdclusters"], verbs: ["create", "get"] }];
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
