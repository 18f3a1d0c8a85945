/** The alarm CORRUPT in the simulated world: nobody but a person can say which data are right. */
import { Pod } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { minutes } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { bootstrap, claims, expectHealthy, memberNames, podUids, scenario, type Stage } from "./testing/etcd-stage.ts";

async function readyPods({ world }: Stage): Promise<number> {
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true;
  return (await world.list(Pod)).filter(isReady).length;
}

test(
  "while a member has the alarm CORRUPT no pod is ready, the status names it, and no member is stopped or removed",
  scenario(951, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const [name = ""] = memberNames(stage).filter((each) => each !== etcd.leader("orders"));
    const before = await podUids(stage);
    etcd.setCorrupt(name, true);
    // Longer than members may be silent, and than a quorum may be away before it counts as lost.
    await world.run(minutes(10));
    expect(await readyPods(stage)).toBe(0);
    const present = await world.get(EtcdCluster, "orders");
    expect(conditionOf(present, "Degraded")).toMatchObject({ status: "True", reason: "Corrupt" });
    expect(conditionOf(present, "Available")?.status).toBe("False");
    expect(present.status?.waitingFor?.what).toContain(`corrupt data of ${name} (alarm CORRUPT)`);
    expect(present.status?.quorumRecovery?.approval).toBeUndefined();
    expect(await podUids(stage)).toEqual(before);
    etcd.setCorrupt(name, false);
    await world.run(minutes(1));
    await expectHealthy(stage);
    expect(await podUids(stage)).toEqual(before);
    await world.expectQuiet();
  }),
);
