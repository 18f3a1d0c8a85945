/**
 * A member that answers and whose disk is slow: it is named, and on request replaced; in the simulated world.
 */
import { Pod } from "setpoint/kinds";
import { minutes, seconds } from "setpoint";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  expectNothingLost,
  memberNames,
  scenario,
  type Stage,
  startWriter,
} from "./testing/etcd-stage.ts";

type Spec = Partial<EtcdCluster["spec"]>;
const healing = (slowDisk: "report" | "replace"): Spec => ({
  healing: { slowDisk, slowDiskMilliseconds: 500, slowDiskSeconds: 120 },
});

const within = { within: minutes(15) };

async function slowDisks({ world }: Stage): Promise<NonNullable<EtcdCluster["status"]>["slowDisks"]> {
  return (await world.get(EtcdCluster, "orders")).status?.slowDisks;
}

test(
  "a slow disk is named in the status and the condition, and nothing else happens",
  scenario(601, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...healing("report") });
    const writer = startWriter(stage);
    const names = memberNames(stage);
    const [slow = ""] = names;
    await world.run(minutes(1));
    etcd.slowDisk(slow, 900);
    await world.run(minutes(1));
    expect(await slowDisks(stage)).toBeUndefined();
    await world.run(minutes(10));
    expect(await slowDisks(stage)).toMatchObject({ members: [{ name: slow, p99Milliseconds: 512 }] });
    const condition = conditionOf(await world.get(EtcdCluster, "orders"), "Degraded");
    expect(condition).toMatchObject({ status: "True", reason: "SlowDisk" });
    expect(condition?.message).toContain(slow);
    expect(memberNames(stage)).toEqual(names);
    etcd.slowDisk(slow, 1);
    await world.run(minutes(2));
    expect((await slowDisks(stage))?.members ?? []).toEqual([]);
    await expectHealthy(stage);
    writer.stop();
  }),
);

test.each([0, 1, 2])("the member whose disk is slow is replaced on another node, and nothing is lost (%i)", (at) =>
  scenario(610 + at, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...healing("replace") });
    const writer = startWriter(stage);
    const names = memberNames(stage);
    const slow = names[at] ?? "";
    const node = (await world.get(Pod, slow)).spec?.nodeName;
    await world.run(minutes(1));
    etcd.slowDisk(slow, 900);
    await world.until("another member has its place", async () => !memberNames(stage).includes(slow), within);
    await world.run(minutes(1));
    await world.settled();
    await expectHealthy(stage);
    const [added = ""] = memberNames(stage).filter((name) => !names.includes(name));
    expect(memberNames(stage).toSorted()).toEqual([...names.filter((name) => name !== slow), added].toSorted());
    expect((await world.get(Pod, added)).spec?.affinity).toMatchObject({
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { preference: { matchExpressions: [{ operator: "NotIn", values: [node] }] } },
        ],
      },
    });
    await expectNothingLost(world, writer);
    writer.stop();

    expect((await slowDisks(stage))?.lastReplacement).toBeDefined();
    await world.expectQuiet();
  })(),
);

test(
  "no two members are replaced within an hour, and none while two disks are slow",
  scenario(620, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...healing("replace") });
    const writer = startWriter(stage);
    const [first = "", second = "", third = ""] = memberNames(stage);
    await world.run(minutes(1));
    etcd.slowDisk(first, 900);
    await world.until("another member has its place", async () => !memberNames(stage).includes(first), within);
    await world.run(minutes(1));
    expect(memberNames(stage)).toEqual(expect.arrayContaining([second, third]));
    etcd.slowDisk(second, 900);
    await world.run(minutes(30));
    expect(memberNames(stage)).toContain(second);
    etcd.slowDisk(third, 900);
    await world.run(minutes(60));
    expect(memberNames(stage)).toEqual(expect.arrayContaining([second, third]));
    etcd.slowDisk(third, 1);
    await world.until("the second is replaced", async () => !memberNames(stage).includes(second), within);
    await world.run(seconds(60));
    await expectHealthy(stage);
    await expectNothingLost(world, writer);
    writer.stop();
  }),
);
