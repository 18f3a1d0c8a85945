/** When changes of the spec happen, and what they would do, in the simulated world. */
import { minutes } from "setpoint";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { bootstrap, claims, expectHealthy, memberNames, scenario, type Stage } from "./testing/etcd-stage.ts";

/** A window that opens within the hour, each day. */
function withinAnHour({ world }: Stage): object {
  const hour = (new Date(world.host.clock.now()).getUTCHours() + 1) % 24;
  return { schedule: `0 ${hour} * * *`, duration: "1h" };
}

async function versions({ world }: Stage): Promise<readonly (string | undefined)[]> {
  const { status } = await world.get(EtcdCluster, "orders");
  return status?.members.map(({ version }) => version) ?? [];
}

test(
  "an upgrade waits for the maintenance window, and a repair does not",
  scenario(401, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const maintenanceWindows = [withinAnHour(stage)];
    await world.patch(EtcdCluster, "orders", { spec: { maintenanceWindows, version: "3.5.16" } });
    await world.run(minutes(20));
    expect(await versions(stage)).toEqual(["3.4.23", "3.4.23", "3.4.23"]);
    const { status } = await world.get(EtcdCluster, "orders");
    expect(status?.waitingFor?.what).toMatch(/the next maintenance window opens at 2026-/);
    const follower = memberNames(stage).find((name) => name !== etcd.leader("orders")) ?? "";
    world.kill(follower);
    await world.run(minutes(5));
    expect(etcd.members("orders").length).toBe(3);
    await world.run(minutes(45));
    expect(await versions(stage)).toEqual(["3.5.16", "3.5.16", "3.5.16"]);
    await expectHealthy(stage);
  }),
);

test(
  "a dry run lists the steps with the points of no return, and does none of them",
  scenario(402, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const leader = etcd.leader("orders");
    const before = world.trace.length;
    await world.patch(EtcdCluster, "orders", { spec: { dryRun: true, version: "3.5.16", size: 5 } });
    await world.run(minutes(2));
    const { status } = await world.get(EtcdCluster, "orders");
    const steps = status?.plannedSteps ?? [];
    expect(steps.map(({ action }) => action)).toEqual([
      ...["AddMember", "AddMember", "RestartMember", "RestartMember", "SwitchLeader", "RestartMember"],
    ]);
    expect(steps.at(-1)?.member).toBe(leader);
    expect(steps[2]?.noReturn).toMatch(/cannot be downgraded/);
    const writes = world.trace
      .slice(before)
      .filter((line) => / etcd +(PATCH|POST|DELETE|etcd (add|promote|remove|move))/.test(line));
    expect(writes.filter((line) => !/status|events/.test(line))).toEqual([]);
    await world.patch(EtcdCluster, "orders", { spec: { dryRun: false } });
    await world.settled();
    await expectHealthy(stage);
    expect((await world.get(EtcdCluster, "orders")).status?.plannedSteps).toBe(undefined);
  }),
);

test(
  "the status says where the running version stands",
  scenario(403, async (stage) => {
    await bootstrap(stage, { size: 1 });
    const old = await stage.world.get(EtcdCluster, "orders");
    expect(conditionOf(old, "VersionMaintained")).toMatchObject({ status: "False", reason: "Deprecated" });
    await stage.world.patch(EtcdCluster, "orders", { spec: { version: "3.5.1" } });
    await stage.world.run(minutes(1));
    const refused = await stage.world.get(EtcdCluster, "orders");
    expect(refused.status?.waitingFor?.what).toMatch(/^version 3.5.1 was withdrawn on 2022-03-31/);
  }),
);
