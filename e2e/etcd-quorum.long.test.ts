/**
 * A majority of a real etcd is lost with its volumes: the cluster waits for consent, then goes on from the
 * survivor.
 */
import { EtcdCluster, httpGateway } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { loseMajority } from "../examples/etcd/tour/recovery-steps.ts";
import { checkHashes, writeAndRead } from "../examples/etcd/tour/steps.ts";
import { conditions } from "./etcd/expect-status.ts";
import { Playground } from "./etcd/playground.ts";
import { versionsUnderTest } from "./etcd/versions.ts";

const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const quorumRecovery = {
  policy: "onApproval" as const,
  fencingSeconds: 10,
  withoutCopy: false,
  keepCopySeconds: 604_800,
};
const recoveryMsMax = 90_000;

type Recovery = NonNullable<EtcdCluster["status"]>["quorumRecovery"];

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function approve({ name, namespace }: ClusterUnderTour, approval: string): Promise<void> {
  const annotations = { "etcd.setpoint.dev/approve-quorum-recovery": approval };
  await playground.client.patch(EtcdCluster, { name, namespace }, { metadata: { annotations } });
}

async function keepCopyFor({ name, namespace }: ClusterUnderTour, keepCopySeconds: number): Promise<void> {
  await playground.client.patch(EtcdCluster, { name, namespace }, { spec: { quorumRecovery: { keepCopySeconds } } });
}

/** The metrics of real members have what the operator judges disks and the network by. */
async function expectMeasured(cluster: ClusterUnderTour): Promise<void> {
  const ids = (await cluster.get()).status?.members.map(({ id }) => id) ?? [];
  const [pod] = await cluster.pods();
  const endpoint = await cluster.endpointOf(pod?.status?.podIP ?? "");
  const gateway = typeof endpoint === "string" ? httpGateway() : httpGateway({ tls: endpoint });
  const url = typeof endpoint === "string" ? endpoint : endpoint.url;
  const measured = (): ReturnType<typeof gateway.measure> => gateway.measure(url, AbortSignal.timeout(5_000));
  const { logWrites } = await measured();
  expect(logWrites.length).toBeGreaterThan(10);
  expect(logWrites.at(-1)?.withinSeconds).toBe(Infinity);
  expect(logWrites.at(-1)?.count).toBeGreaterThan(0);
  // etcd probes its peers every 30 s.
  await cluster.until("probes of both peers", async () => (await measured()).roundTrips.length === 2, recoveryMsMax);
  const { roundTrips } = await measured();
  expect(ids).toEqual(expect.arrayContaining(roundTrips.map(({ peerId }) => peerId)));
  expect(roundTrips.every(({ seconds, count }) => seconds > 0 && count > 0)).toBe(true);
}

test.each(versionsUnderTest("3.4.23"))(
  "a cluster of %s goes on from one survivor after consent, and loses nothing",
  async (version) => {
    const spec = { size: 3, version, volumeClaimTemplate, quorumRecovery } as const;
    await playground.tell(`quorum-${version.replaceAll(".", "-")}`, spec, async (cluster, writer) => {
      await writeAndRead.run(cluster, writer);
      await expectMeasured(cluster);
      const survivor = await loseMajority(cluster);
      const approval = async (): Promise<string> => (await cluster.get()).status?.quorumRecovery?.approval ?? "";
      await cluster.until("the report of the loss", async () => (await approval()) !== "", recoveryMsMax);
      const { status } = await cluster.get();
      expect(status?.quorumRecovery).toMatchObject({ state: "Waiting", survivor });
      expect(conditions(status)).toMatchObject({ QuorumLost: "True", Available: "False" });
      const fromMs = performance.now();
      await approve(cluster, await approval());
      await cluster.until("three members", () => cluster.isSettled(3), recoveryMsMax);
      console.log(
        `etcd ${version}: three members again ${Math.round(performance.now() - fromMs)} ms after the approval`,
      );
      const recovered = async (): Promise<Recovery | undefined> => (await cluster.get()).status?.quorumRecovery;
      expect(await recovered()).toMatchObject({ state: "Recovered", survivor });
      const { bytes = 0 } = (await recovered())?.copy ?? {};
      expect(bytes).toBeGreaterThan(0);
      console.log(`etcd ${version}: a copy of ${bytes} bytes was made before`);
      await keepCopyFor(cluster, 0);
      await cluster.until(
        "the end of the copy",
        async () => (await recovered())?.copy?.removedAt !== undefined,
        recoveryMsMax,
      );
      await cluster.until("three members", () => cluster.isSettled(3), recoveryMsMax);
      await checkHashes(cluster, 3);
    });
  },
);
