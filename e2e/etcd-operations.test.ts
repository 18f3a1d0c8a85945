/** Operations on a real etcd under writes: all members are restarted, then defragmented. */
import { Operation } from "@setpoint/data-service";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { writeAndRead } from "../examples/etcd/tour/steps.ts";
import { Playground } from "./etcd/playground.ts";

const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const operationMsMax = 90_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function carryOut(cluster: ClusterUnderTour, type: "Restart" | "Defragment"): Promise<number> {
  const { client } = playground;
  const { name, namespace } = cluster;
  const operation = { name: type.toLowerCase(), namespace };
  const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name };
  await client.create(Operation, Operation({ ...operation, spec: { instance, type } }));
  const phase = async (): Promise<string | undefined> => (await client.get(Operation, operation)).status?.phase;
  const tookMs = await cluster.until(`the end of ${type}`, async () => (await phase()) === "Succeeded", operationMsMax);
  await client.delete(Operation, operation);
  return tookMs;
}

test("members are restarted and defragmented on request, one at a time, and nothing is lost", async () => {
  const spec = { size: 3, version: "3.5.16", volumeClaimTemplate } as const;
  await playground.tell("operations", spec, async (cluster, writer) => {
    await writeAndRead.run(cluster, writer);
    const uids = async (): Promise<readonly (string | undefined)[]> =>
      (await cluster.pods()).map(({ metadata }) => metadata.uid);
    const before = await uids();
    const restartMs = await carryOut(cluster, "Restart");
    expect((await uids()).filter((uid) => before.includes(uid))).toEqual([]);
    const defragmentMs = await carryOut(cluster, "Defragment");
    console.log(
      `all members restarted within ${Math.round(restartMs)} ms, defragmented ${Math.round(defragmentMs)} ms`,
    );
    const { status } = await cluster.get();
    expect(status?.defragmentation).toMatchObject({ reason: "Request" });
    expect([...(status?.defragmentation?.members ?? [])].sort()).toEqual(
      status?.members.map((each) => each.name).sort(),
    );
  });
});
