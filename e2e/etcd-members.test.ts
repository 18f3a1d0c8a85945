/**
 * CoreOS' acceptance tests of its etcd operator in which members are replaced, added and removed, against
 * real etcd under writes. The others are in `etcd.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { killLeader, operatorAway, scale } from "../examples/etcd/tour/steps.ts";
import { conditions } from "./etcd/expect-status.ts";
import { Playground } from "./etcd/playground.ts";

const version = "3.5.16";

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

// A6: TestOneMemberRecovery
test("a dead leader is replaced under a new name, and its ID is gone", async () => {
  await playground.tell("recovery", { size: 3, version }, async (cluster, writer) => {
    await killLeader.run(cluster, writer);
  });
});

// A7, A8: TestResizeCluster3to5, TestResizeCluster5to3
test("growing adds one learner at a time, shrinking never removes the leader", async () => {
  await playground.tell("resize", { size: 3, version }, async (cluster, writer) => {
    await scale.run(cluster, writer);
  });
});

// A11: TestRestartOperator
test("a member that died while the operator was away is replaced when it is back", async () => {
  await playground.tell("restart", { size: 3, version }, async (cluster, writer) => {
    await operatorAway.run(cluster, writer);
    expect(conditions((await cluster.get()).status)).toMatchObject({ Degraded: "False" });
  });
});
