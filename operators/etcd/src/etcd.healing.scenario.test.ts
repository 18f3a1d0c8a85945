/** What is lost is replaced, and nothing that was acknowledged is lost; in the simulated world. */
import { Pod } from "setpoint/kinds";
import { conditionOf, EtcdModel, simulate } from "setpoint/testing";
import { minutes, seconds } from "setpoint";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { EtcdError } from "./gateway/etcd-gateway.ts";
import {
  bootstrap,
  claims,
  cluster,
  expectHealthy,
  memberNames,
  scenario,
  whileSomebodyWrites,
} from "./testing/etcd-stage.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

describe("healing", () => {
  test.each([
    ["on a claim", claims],
    ["on an emptyDir", {}],
  ] as const)("a dead follower %s is replaced", (_, spec) =>
    scenario(11, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, spec);
      const victim = await whileSomebodyWrites(stage, async () => {
        await world.run(seconds(10));
        const follower = memberNames(stage).find((name) => name !== etcd.leader("orders")) ?? "";
        world.kill(follower);
        return follower;
      });
      expect(memberNames(stage)).not.toContain(victim);
    })(),
  );

  test(
    "a dead leader costs no acknowledged write",
    scenario(12, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const victim = await whileSomebodyWrites(stage, async () => {
        await world.run(seconds(10));
        const leader = etcd.leader("orders") ?? "";
        world.kill(leader);
        return leader;
      });
      expect(memberNames(stage)).not.toContain(victim);
    }),
  );

  test(
    "a member that hangs is replaced after a minute",
    scenario(18, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const [victim = ""] = memberNames(stage);
      await whileSomebodyWrites(stage, async () => {
        etcd.hang(victim);
        await world.run(seconds(50));
        expect((await world.get(EtcdCluster, "orders")).status?.members.map(({ name }) => name)).toContain(victim);
      });
      expect(memberNames(stage)).not.toContain(victim);
    }),
  );

  test(
    "a pod that a user deletes comes back on its volume",
    scenario(13, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const before = memberNames(stage);
      await whileSomebodyWrites(stage, () => world.delete(Pod, before[1] ?? ""));
      expect(memberNames(stage)).toEqual(before);
    }),
  );

  test(
    "a power cut of all nodes loses nothing that is on volumes",
    scenario(14, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      await whileSomebodyWrites(stage, async () => {
        await world.run(seconds(10));
        world.killAll();
      });
    }),
  );

  test(
    "a cluster that has lost all its data is never started empty",
    scenario(15, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage);
      world.killAll();
      await world.run(minutes(10));
      const present = await world.get(EtcdCluster, "orders");
      expect(conditionOf(present, "Degraded")).toMatchObject({ status: "True", reason: "NoQuorum" });
      expect(conditionOf(present, "Available")).toMatchObject({ status: "False" });
      expect(etcd.members("orders")).toEqual([]);
      await world.expectQuiet();
    }),
  );

  test(
    "a member that dies during the first start does not stop it",
    scenario(16, async (stage) => {
      const { world, etcd } = stage;
      await world.apply(cluster("orders"));
      await world.until("a member runs", () => etcd.members("orders").length > 0);
      world.kill(memberNames(stage)[0] ?? "");
      await world.settled();
      await expectHealthy(stage);
      await world.expectQuiet();
    }),
  );

  test(
    "a member that dies when the others have a leader, before the operator knows, does not stop the first start",
    scenario(17, async (stage) => {
      const { world, etcd } = stage;
      await world.apply(cluster("orders"));
      await world.until("a leader is there", () => etcd.leader("orders") !== undefined);
      world.stopOperator();
      world.kill(etcd.leader("orders") ?? "");
      await world.run(seconds(5));
      await world.restartOperator();
      await world.settled();
      await expectHealthy(stage);
      await world.expectQuiet();
    }),
  );
});

test(
  "a wall clock that jumps gives no member up",
  scenario(27, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const before = memberNames(stage);
    const follower = before.find((name) => name !== etcd.leader("orders")) ?? "";
    // Its restart, in place, is short; but it is silent when the clock jumps.
    await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
    await world.until("a member is silent", async () =>
      ((await world.get(EtcdCluster, "orders")).status?.members ?? []).some(({ healthy }) => !healthy),
    );
    world.jumpOperatorClock(3_600_000);
    await world.settled();
    expect(memberNames(stage)).toEqual(before);
    expect(memberNames(stage)).toContain(follower);
    await expectHealthy(stage);
  }),
);

test(
  "a member that fails as soon as it starts is started again with pauses",
  scenario(28, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, size: 1 });
    const [only] = await world.list(Pod);
    await world.patch(EtcdCluster, "orders", { spec: { size: 3 } });
    await world.until("a second member is there", async () => (await world.list(Pod)).length > 1);
    world.failNode(only?.spec?.nodeName ?? "");
    const from = world.trace.length;
    await world.run(minutes(2));
    const deletions = world.trace.slice(from).filter((line) => /etcd +DELETE default\/pods/.test(line));
    expect(deletions.length).toBeLessThan(20);
    await world.recoverNode(only?.spec?.nodeName ?? "");
    await world.settled({ within: minutes(10) });
    await expectHealthy(stage);
  }),
);

test("a removal that another member's start has to come before is asked for every other second", async () => {
  const etcd = new EtcdModel();
  let asked = 0;
  const remove = (): Promise<void> => {
    asked++;
    return Promise.reject(new EtcdError("etcdserver: re-configuration failed due to not enough started members"));
  };
  await using world = await simulate({
    seed: 29,
    models: [etcd],
    operators: [(process) => etcdOperator({ ...simulatedGateway(etcd, process), remove })],
  });
  await world.apply(cluster("orders"));
  await world.settled();
  world.kill(etcd.leader("orders") ?? "");
  await world.run(minutes(1));
  expect(asked).toBeGreaterThan(20);
  expect(asked).toBeLessThan(35);
});
