/**
 * Clusters of real etcd that ask for logins, under writes with the login of a ServiceBinding: without TLS,
 * restored in place, after a lost quorum, and upgraded.
 */
import { ServiceBinding } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp, createStore, removeStore, restore } from "../../examples/etcd/tour/backups.ts";
import { bind, boundClient } from "../../examples/etcd/tour/bindings.ts";
import type { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../../examples/etcd/tour/etcd-client.ts";
import { loseMajority } from "../../examples/etcd/tour/recovery-steps.ts";
import { checkHashes, killLeader } from "../../examples/etcd/tour/steps.ts";
import { builtVersions, missingVersions } from "../etcd36/built-versions.ts";
import { Playground } from "../etcd/playground.ts";

const namespace = "default";
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const { v35, v36 } = builtVersions;
const versions = ["3.4.23", "3.5.16", ...(missingVersions === "" ? [v35, v36] : [])];
const upgrades: (readonly [string, string])[] = [["3.4.23", "3.5.16"]];
if (missingVersions === "") upgrades.push([v35, v36]);
const endMsMax = 90_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

const short = (version: string): string => version.replaceAll(".", "");

/** Who has no login gets nothing; who has one can use it. */
async function expectLogins(cluster: ClusterUnderTour, binding: string, value: string): Promise<void> {
  const anonymous = etcdClient(await cluster.clientEndpoint(), 5_000);
  await expect(anonymous.get("/shop/a").finally(() => anonymous.close())).rejects.toThrow("user name is empty");
  const bound = await boundClient(cluster, binding);
  try {
    await bound.put("/shop/a", value);
    expect(await bound.get("/shop/a")).toBe(value);
    await expect(bound.put("/other", value)).rejects.toThrow("permission denied");
  } finally {
    bound.close();
  }
}

async function removeBinding(name: string): Promise<void> {
  await playground.client.delete(ServiceBinding, { name, namespace });
}

const rights = { "/shop/": "readwrite" } as const;

test.each(versions)("etcd %s without TLS asks for logins, replaces a dead leader and is restored", async (version) => {
  const spec = { size: 3, version, volumeClaimTemplate, auth: { enabled: true }, tls: { mode: "Disabled" } } as const;
  const name = `plain-${short(version)}`;
  const story = async (cluster: ClusterUnderTour, writer: Parameters<typeof killLeader.run>[1]): Promise<void> => {
    await bind(cluster, name, { rights });
    await expectLogins(cluster, name, "1");
    console.log(`etcd ${version} without TLS:`, await killLeader.run(cluster, writer));
    await createStore(cluster, name);
    const { status } = await backUp(cluster, name, name);
    expect(status, JSON.stringify(status)).toMatchObject({ phase: "Succeeded" });
    const inPlace = await restore(cluster, name, name, { inPlace: {} });
    expect(inPlace.status, JSON.stringify(inPlace.status)).toMatchObject({ phase: "Succeeded" });
    await cluster.until("all members on the restored data", () => cluster.isSettled(3), endMsMax);
    await expectLogins(cluster, name, "2");
    await removeBinding(name);
    await removeStore(cluster, name);
  };
  await playground.tell(name, spec, story, { losesWrites: true });
});

test.each(versions)(
  "etcd %s with logins is restored in place, with bindings from before and after",
  async (version) => {
    const spec = { size: 3, version, volumeClaimTemplate, auth: { enabled: true } } as const;
    const name = `back-${short(version)}`;
    const story = async (cluster: ClusterUnderTour): Promise<void> => {
      await createStore(cluster, name);
      await bind(cluster, `${name}-early`, { rights });
      await expectLogins(cluster, `${name}-early`, "1");
      const { status } = await backUp(cluster, name, name);
      expect(status, JSON.stringify(status)).toMatchObject({ phase: "Succeeded" });
      await bind(cluster, `${name}-late`, { rights });
      await expectLogins(cluster, `${name}-late`, "2");
      const inPlace = await restore(cluster, name, name, { inPlace: {} });
      expect(inPlace.status, JSON.stringify(inPlace.status)).toMatchObject({ phase: "Succeeded" });
      await cluster.until("all members on the restored data", () => cluster.isSettled(3), endMsMax);
      await expectLogins(cluster, `${name}-early`, "3");
      // The data know nothing of this user: the binding makes it again.
      const isBack = (): Promise<boolean> => expectLogins(cluster, `${name}-late`, "4").then(() => true);
      const tookMs = await cluster.until("the user of the later binding", isBack, endMsMax);
      console.log(`etcd ${version}: the later binding works ${Math.round(tookMs)} ms after the restore`);
      await removeBinding(`${name}-early`);
      await removeBinding(`${name}-late`);
      await removeStore(cluster, name);
    };
    await playground.tell(name, spec, story, { losesWrites: true });
  },
);

test.each(versions)("etcd %s with logins goes on from one survivor, and logins still count", async (version) => {
  const quorumRecovery = { policy: "onApproval", fencingSeconds: 10, withoutCopy: false, keepCopySeconds: 0 } as const;
  const spec = { size: 3, version, volumeClaimTemplate, auth: { enabled: true }, quorumRecovery } as const;
  const name = `lost-${short(version)}`;
  await playground.tell(name, spec, async (cluster) => {
    await bind(cluster, name, { rights });
    const survivor = await loseMajority(cluster);
    const approval = async (): Promise<string> => (await cluster.get()).status?.quorumRecovery?.approval ?? "";
    await cluster.until("the report of the loss", async () => (await approval()) !== "", endMsMax);
    const annotations = { "etcd.setpoint.dev/approve-quorum-recovery": await approval() };
    await playground.client.patch(EtcdCluster, { name, namespace }, { metadata: { annotations } });
    const tookMs = await cluster.until("three members", () => cluster.isSettled(3), endMsMax);
    console.log(`etcd ${version} with logins: three members ${Math.round(tookMs)} ms after the approval`);
    expect((await cluster.get()).status?.quorumRecovery).toMatchObject({ survivor });
    await expectLogins(cluster, name, "1");
    await checkHashes(cluster, 3);
    await removeBinding(name);
  });
});

test.each(upgrades)("etcd with logins is upgraded from %s to %s, and loses no write", async (from, to) => {
  const spec = { size: 3, version: from, volumeClaimTemplate, auth: { enabled: true } } as const;
  const name = `up-${short(to)}`;
  await playground.tell(name, spec, async (cluster, writer) => {
    await bind(cluster, name, { rights });
    writer.mark();
    await cluster.patch({ version: to });
    const tookMs = await cluster.until("the upgrade", () => cluster.isSettled(3, to), endMsMax);
    console.log(`${from} → ${to} with logins: ${Math.round(tookMs)} ms, longest gap ${Math.round(writer.gapMs)} ms`);
    await expectLogins(cluster, name, "1");
    await checkHashes(cluster, 3);
    console.log(await killLeader.run(cluster, writer));
    await removeBinding(name);
  });
});
