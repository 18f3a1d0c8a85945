/** Day 2 on real etcd: settings reach running members, and a cluster without space accepts writes again. */
import { PersistentVolumeClaim, Pod, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "@setpoint/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { checkHashes } from "../examples/etcd/tour/steps.ts";
import { Playground } from "./etcd/playground.ts";
import { versionsUnderTest } from "./etcd/versions.ts";

const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const repairMsMax = 60_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function flags(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.pods()).flatMap(({ spec }) => spec?.containers[0]?.args ?? []);
}

/** The size of each volume. */
async function storageOf(cluster: ClusterUnderTour): Promise<readonly unknown[]> {
  const selector = { namespace: cluster.namespace, labelSelector: cluster.selector };
  const { items } = await playground.client.listAll(PersistentVolumeClaim, selector);
  return items.map(({ spec }) => spec?.resources?.requests?.["storage"]);
}

test("a plan and options reach running members on their volumes, one at a time", async () => {
  await playground.tell("settings", { size: 3, version: "3.5.16", volumeClaimTemplate }, async (cluster) => {
    const before = (await cluster.members()).map(({ name }) => name).sort();
    const pod = { resources: { requests: { cpu: "10m", memory: "64Mi" } } };
    await cluster.patch({ plan: "small", volumeClaimTemplate: null, options: { "snapshot-count": "5000" }, pod });
    const wanted = ["--snapshot-count=5000", "--quota-backend-bytes=1073741824"];
    const isThere = async (): Promise<boolean> =>
      (await flags(cluster)).filter((flag) => wanted.includes(flag)).length === 6;
    await cluster.until("the options at all members", isThere, repairMsMax);
    const isLarger = async (): Promise<boolean> => (await storageOf(cluster)).every((size) => size === "4Gi");
    await cluster.until("larger volumes", isLarger, repairMsMax);
    await cluster.until("rest", () => cluster.isSettled(3), repairMsMax);
    expect((await cluster.get()).status?.plan).toMatchObject({ name: "small", gives: { storage: "4Gi" } });
    expect((await cluster.members()).map(({ name }) => name).sort()).toEqual(before);
    await checkHashes(cluster, 3);
  });
});

test.each(versionsUnderTest("3.4.23"))(
  "etcd %s without space is compacted, defragmented and disarmed, in this order",
  async (version) => {
    const options = { "quota-backend-bytes": String(8 * 1_048_576), "auto-compaction-retention": "0" };
    const spec = { size: 3, version, volumeClaimTemplate, options } as const;
    await playground.tell(`space-${version.replaceAll(".", "-")}`, spec, async (cluster) => {
      const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
      try {
        const isFull = await fill(etcd);
        expect(isFull).toContain("database space exceeded");
        const fromMs = performance.now();
        await cluster.until(
          "space for writes",
          () =>
            etcd.put("after", "space").then(
              () => true,
              () => false,
            ),
          repairMsMax,
        );
        console.log(`etcd ${version}: writes again ${Math.round(performance.now() - fromMs)} ms after NOSPACE`);
        const { status } = await cluster.get();
        expect(status?.defragmentation).toMatchObject({ reason: "NoSpace" });
        expect(status?.defragmentation?.members).toHaveLength(3);
      } finally {
        etcd.close();
      }
    });
  },
);

test("volumes grow by themselves when the data fill them", async () => {
  const defragmentation = { whenFreePercent: 50, minDbSizeMiB: 1_000 };
  const volumeGrowth = { whenUsedPercent: 6, step: "512Mi", max: "4Gi" };
  const spec = {
    size: 3,
    version: "3.5.16",
    volumeClaimTemplate,
    maintenance: { defragmentation, volumeGrowth },
  } as const;
  await playground.tell("growth", spec, async (cluster) => {
    const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
    await fill(etcd).finally(() => etcd.close());
    const isLarger = async (): Promise<boolean> => (await storageOf(cluster)).every((size) => size === "1Gi");
    await cluster.until("larger volumes", isLarger, repairMsMax);
    await cluster.until("rest", () => cluster.isSettled(3), repairMsMax);
    expect(await storageOf(cluster)).toEqual(["1Gi", "1Gi", "1Gi"]);
  });
});

/** What the server says for a class without allowVolumeExpansion. */
const refusal = "the storageclass that provisions the pvc must support resize";
const name = "fixed-size";
const policy = ValidatingAdmissionPolicy({
  name,
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["persistentvolumeclaims"] },
      ],
    },
    validations: [
      {
        expression: "object.spec.resources.requests.storage == oldObject.spec.resources.requests.storage",
        message: refusal,
      },
    ],
  },
});
const binding = ValidatingAdmissionPolicyBinding({ name, spec: { policyName: name, validationActions: ["Deny"] } });

test("when the class of storage refuses a larger volume, the status says so, and members are healed all the same", async () => {
  const volumeGrowth = { whenUsedPercent: 6, step: "512Mi", max: "4Gi" };
  const maintenance = { defragmentation: { whenFreePercent: 50, minDbSizeMiB: 1_000 }, volumeGrowth };
  const spec = { size: 3, version: "3.5.16", volumeClaimTemplate, maintenance } as const;
  await playground.tell("fixed", spec, async (cluster) => {
    const { client } = playground;
    await client.create(ValidatingAdmissionPolicy, policy);
    await client.create(ValidatingAdmissionPolicyBinding, binding);
    const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
    await fill(etcd).finally(() => etcd.close());
    const isSaid = async (): Promise<boolean> => JSON.stringify((await cluster.get()).status).includes(refusal);
    await cluster.until("the refusal in the status", isSaid, repairMsMax);
    const victim = (await cluster.pods())[0]?.metadata;
    await client.delete(Pod, { name: victim?.name ?? "", namespace: cluster.namespace });
    const isBack = async (): Promise<boolean> =>
      (await cluster.get()).status?.readyMembers === 3 &&
      !(await cluster.pods()).some(({ metadata }) => metadata.uid === victim?.uid);
    await cluster.until("the return of the member", isBack, repairMsMax);
    await client.delete(ValidatingAdmissionPolicyBinding, { name });
    await client.delete(ValidatingAdmissionPolicy, { name });
    const isLarger = async (): Promise<boolean> => {
      const selector = { namespace: cluster.namespace, labelSelector: cluster.selector };
      const { items } = await client.listAll(PersistentVolumeClaim, selector);
      return items.every((claim) => claim.spec?.resources?.requests?.["storage"] === "1Gi");
    };
    await cluster.until("larger volumes", isLarger, repairMsMax);
    const isAtRest = async (): Promise<boolean> =>
      JSON.stringify((await cluster.get()).status?.conditions).includes(refusal) === false && cluster.isSettled(3);
    await cluster.until("rest", isAtRest, repairMsMax);
  });
});

/** Overwrites a key until etcd refuses; returns its words. */
async function fill(etcd: ReturnType<typeof etcdClient>): Promise<string> {
  for (let round = 0; round < 100; round++) {
    try {
      await etcd.put("large", "v".repeat(500_000));
    } catch (error) {
      return String(error);
    }
  }
  return "it never refused";
}
