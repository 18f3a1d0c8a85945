/**
 * ServiceBindings of a real etcd with TLS and authentication: who gets in and where, rotation under use,
 * revocation, and backups of such a cluster.
 */
import type { Client } from "@setpoint/client";
import { ServiceBinding } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp, createStore, removeStore, restore } from "../examples/etcd/tour/backups.ts";
import { bind, boundClient, loginOf, revoke } from "../examples/etcd/tour/bindings.ts";
import { BoundClient } from "../examples/etcd/tour/bound-client.ts";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { Playground } from "./etcd/playground.ts";
import { versionsUnderTest } from "./etcd/versions.ts";

const namespace = "default";
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "256Mi" } } };
const endMsMax = 90_000;

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

test.each(versionsUnderTest("3.5.16"))(
  "a client of etcd %s gets in with the login of its binding, within its prefix, through a rotation, until the binding goes",
  { timeout: 400_000 },
  async (version) => {
    const name = `bound-${version.slice(2, 3)}`;
    const spec = { size: 3, version, volumeClaimTemplate, auth: { enabled: true } } as const;
    const cluster = new ClusterUnderTour(client, name, namespace, operator);
    await client.create(EtcdCluster, EtcdCluster({ name, namespace, spec }));
    await cluster.until(
      "the start with authentication",
      async () => {
        const { status } = await cluster.get();
        return status?.auth !== undefined && (await cluster.isSettled(3));
      },
      endMsMax,
    );
    await createStore(cluster, "vault");
    await bind(cluster, "shop", { rights: { "/shop/": "readwrite" }, rotation: { overlap: "5s" } });

    // in with the login, within the prefix
    const bound = await boundClient(cluster, "shop");
    await bound.put("/shop/a", "first");
    expect(await bound.get("/shop/a")).toBe("first");
    await expect(bound.put("/other", "x")).rejects.toThrow("permission denied");
    const anonymous = etcdClient(await cluster.clientEndpoint(), 5_000);
    await expect(anonymous.put("/shop/a", "x")).rejects.toThrow("user name is empty");
    anonymous.close();

    // rotation under use
    const first = await loginOf(cluster, "shop");
    await client.patch(ServiceBinding, { name: "shop", namespace }, { spec: { rotation: { request: "now" } } });
    let writes = 0;
    const oldUserIsGone = async (): Promise<boolean> => {
      await bound.put("/shop/use", String(writes++));
      const { status } = await client.get(ServiceBinding, { name: "shop", namespace });
      return status?.generation === 2 && status.logins?.length === 1;
    };
    await cluster.until("the rotation", oldUserIsGone, endMsMax);
    const second = await loginOf(cluster, "shop");
    expect(second["username"]).not.toBe(first["username"]);
    const late = new BoundClient(await cluster.clientEndpoint(), async () => first);
    await expect(late.put("/shop/a", "x")).rejects.toThrow("authentication failed");
    late.close();

    // a backup, and a new cluster from it
    const backup = await backUp(cluster, "vault", `${name}-good`);
    expect(backup.status, JSON.stringify(backup.status)).toMatchObject({ phase: "Succeeded" });
    const copyName = `${name}-copy`;
    const copied = await restore(cluster, `${name}-new`, `${name}-good`, { newInstance: { name: copyName } });
    expect(copied.status, JSON.stringify(copied.status)).toMatchObject({ phase: "Succeeded" });
    const copy = new ClusterUnderTour(client, copyName, namespace, operator);
    // It grows from one member to three, which only root may ask for.
    await copy.until("all members of the copy", () => copy.isSettled(3), endMsMax);
    expect((await copy.get()).status?.auth).toEqual({ rootSecret: `${copyName}-root` });
    await client.delete(EtcdCluster, { name: copyName, namespace });

    // revocation
    await revoke(cluster, "shop", bound, "/shop/a");
    bound.close();
    await removeStore(cluster, "vault");
    await client.delete(EtcdCluster, { name, namespace });
    await cluster.until("the end of the cluster", async () => (await cluster.leftovers()).length === 0, endMsMax);
    console.log(`etcd ${version}: ${writes} writes during the rotation, none refused`);
  },
);
