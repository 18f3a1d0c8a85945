/**
 * Deletions around a database leave its volumes: those of its definition, of its namespace, of its operator.
 */
import {
  CustomResourceDefinition,
  Namespace,
  PersistentVolumeClaim,
  ValidatingAdmissionPolicyBinding,
} from "@setpoint/api";
import { startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import { createClient, RestMapping, type Client, type Stored } from "@setpoint/client";
import { EtcdCluster, etcdOperator, type EtcdGateway } from "@setpoint/etcd-operator";
import { silentLogger, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { installManifests } from "setpoint/install";
import { runOperator } from "setpoint/process";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { uninstallOperator } from "../../packages/cli/src/uninstall/uninstall-operator.ts";

const host: Host = { ...systemHost(), log: silentLogger };
const definition = "etcdclusters.etcd.setpoint.dev";
const waitMs = { timeout: 20_000, interval: 50 };
/** Longer than the collector, the namespace controller and the operator need when nothing holds them. */
const restMs = 3_000;

const away = (): Promise<never> => Promise.reject(new Error("etcd is away"));
/** No member ever answers: there are no nodes. */
const gateway: EtcdGateway = {
  members: away,
  status: away,
  position: away,
  measure: away,
  compact: away,
  defragment: away,
  disarm: away,
  addLearner: away,
  promote: away,
  remove: away,
  moveLeader: away,
  ...{ authentication: away, enableAuthentication: away, resetRoot: away },
  ...{ proveLogin: away, ensureUser: away, dropUser: away, readKey: away, deleteKey: away },
  withCredentials: () => gateway,
};
const operator = etcdOperator(gateway);

let plane: ControlPlane;
let client: Client;
let manager: ReturnType<typeof runOperator> | undefined;

beforeEach(async () => {
  plane = await startControlPlane({ host, controllers: true });
  client = createClient(plane.transport, host);
  const mapping = new RestMapping(client, { clock: host.clock });
  for (const object of installManifests(operator, { image: "none", namespace: "setpoint-system" }))
    await client.apply(await mapping.ofObject(object), object, { fieldManager: "test" });
  manager = runOperator(operator, { transport: plane.transport, host });
});

afterEach(async () => {
  await manager?.stop();
  await plane[Symbol.asyncDispose]();
});

async function claimsIn(namespace: string): Promise<readonly Stored<PersistentVolumeClaim>[]> {
  return (await client.listAll(PersistentVolumeClaim, { namespace })).items;
}

/** A cluster of three members with their claims. */
async function create(namespace: string, deletionPolicy: "Delete" | "Retain"): Promise<void> {
  await client.create(Namespace, Namespace({ name: namespace })).catch(() => {});
  const volumeClaimTemplate = { resources: { requests: { storage: "1Gi" } } };
  const spec = {
    ...({ size: 3, version: "3.5.16", tls: { mode: "Disabled" } } as const),
    ...{ deletionPolicy, volumeClaimTemplate },
  } as const;
  const wanted = EtcdCluster({ name: "orders", namespace, spec });
  await vi.waitFor(() => client.create(EtcdCluster, wanted), waitMs);
  await vi.waitFor(async () => expect(await claimsIn(namespace)).toHaveLength(3), waitMs);
}

async function sleep(): Promise<void> {
  await new Promise((resolve) => void setTimeout(resolve, restMs));
}

test("deleting the definition is refused with the way out, by name and as a collection", async () => {
  await create("shop", "Delete");
  const deleted = client.delete(CustomResourceDefinition, { name: definition });
  await expect(deleted).rejects.toThrow(/objects of this kind own data.*setpoint\.dev\/allow-deletion=true/);
  await expect(client.deleteCollection(CustomResourceDefinition)).rejects.toThrow("objects of this kind own data");
  await client.get(EtcdCluster, { name: "orders", namespace: "shop" });
});

test("a definition that is deleted all the same leaves the volumes without an owner", async () => {
  await create("shop", "Delete");
  await client.patch(
    CustomResourceDefinition,
    { name: definition },
    { metadata: { annotations: { "setpoint.dev/allow-deletion": "true" } } },
  );
  await client.delete(CustomResourceDefinition, { name: definition });
  const isGone = (): Promise<void> =>
    expect(client.get(CustomResourceDefinition, { name: definition })).rejects.toMatchObject({ code: 404 });
  await vi.waitFor(isGone, waitMs);
  await sleep();
  const left = await claimsIn("shop");
  expect(left).toHaveLength(3);
  expect(left.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  await expect(
    client.delete(PersistentVolumeClaim, { name: left[0]?.metadata.name ?? "", namespace: "shop" }),
  ).rejects.toThrow("remove the label etcd.setpoint.dev/deletion-policy first");
});

test("without its policies and its operator a deleted definition waits, with its objects and their volumes", async () => {
  await create("shop", "Delete");
  await manager?.stop();
  const { items } = await client.listAll(ValidatingAdmissionPolicyBinding);
  for (const { metadata } of items) await client.delete(ValidatingAdmissionPolicyBinding, { name: metadata.name });
  await vi.waitFor(() => client.delete(CustomResourceDefinition, { name: definition }), waitMs);
  await sleep();
  expect(await claimsIn("shop")).toHaveLength(3);
  await client.get(EtcdCluster, { name: "orders", namespace: "shop" });
});

test("a deleted namespace waits for volumes that are retained, says so, and goes when a person gives them up", async () => {
  await create("shop", "Retain");
  await client.delete(Namespace, { name: "shop" });
  await sleep();
  const left = await claimsIn("shop");
  expect(left.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(3);
  const { status } = await client.get(Namespace, { name: "shop" });
  expect(JSON.stringify(status?.conditions)).toContain("remove the label etcd.setpoint.dev/deletion-policy first");
  for (const { metadata } of left)
    await client.patch(
      PersistentVolumeClaim,
      { name: metadata.name, namespace: "shop" },
      { metadata: { labels: { "etcd.setpoint.dev/deletion-policy": null } } },
    );
  await vi.waitFor(() => expect(client.get(Namespace, { name: "shop" })).rejects.toMatchObject({ code: 404 }), {
    timeout: 60_000,
    interval: 200,
  });
});

test("a deleted namespace takes volumes along that nobody retains", async () => {
  await create("shop", "Delete");
  await client.delete(Namespace, { name: "shop" });
  await vi.waitFor(() => expect(client.get(Namespace, { name: "shop" })).rejects.toMatchObject({ code: 404 }), {
    timeout: 60_000,
    interval: 200,
  });
});

test("an uninstall with the kinds is refused while objects own data", async () => {
  await create("shop", "Delete");
  const lines = uninstallOperator({
    operator,
    client,
    clock: host.clock,
    namespace: "setpoint-system",
    withKinds: true,
  });
  await expect(lines.next()).rejects.toThrow("1 EtcdCluster objects own data and would be deleted, shop/orders first");
});

test("an uninstall without the kinds leaves the definition, and the policy that keeps it", async () => {
  await create("shop", "Delete");
  await manager?.stop();
  for await (const line of uninstallOperator({
    operator,
    client,
    clock: host.clock,
    namespace: "setpoint-system",
    withKinds: false,
  }))
    expect(line).not.toContain("EtcdCluster is deleted");
  const deleted = client.delete(CustomResourceDefinition, { name: definition });
  await expect(deleted).rejects.toThrow("objects of this kind own data");
});

test("an uninstall is refused while a database is being deleted, which would take its volumes along", async () => {
  await create("shop", "Delete");
  await manager?.stop();
  await client.delete(EtcdCluster, { name: "orders", namespace: "shop" });
  const lines = uninstallOperator({
    operator,
    client,
    clock: host.clock,
    namespace: "setpoint-system",
    withKinds: false,
  });
  await expect(lines.next()).rejects.toThrow("wait until the operator has released their data");
});
