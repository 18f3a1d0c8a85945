/** Operations that restart and defragment the members of a cluster, in the simulated world. */
import { Operation } from "@setpoint/data-service";
import { Pod } from "setpoint/kinds";
import { minutes, seconds } from "setpoint";
import { expect, test } from "vitest";
import {
  bootstrap,
  claims,
  expectHealthy,
  expectNothingLost,
  memberNames,
  podUids,
  scenario,
  setUp,
  type Stage,
  startWriter,
} from "./testing/etcd-stage.ts";

const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };

function operation(name: string, type: Operation["spec"]["type"], spec: object = {}): Operation {
  return Operation({ name, spec: { instance, type, ...spec } });
}

async function phaseOf({ world }: Stage, name: string): Promise<string | undefined> {
  return (await world.list(Operation)).find(({ metadata }) => metadata.name === name)?.status?.phase;
}

const within = { within: minutes(10) };

test(
  "a Restart restarts each member once on its volume, the leader last, and nothing is lost",
  scenario(801, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const writer = startWriter(stage);
    await world.run(seconds(10));
    const [before, names, leader] = [await podUids(stage), memberNames(stage), etcd.leader("orders")];
    await world.apply(operation("restart", "Restart"));
    const progress = new Set<string | undefined>();
    await world.until(
      "its end",
      async () => {
        const { status } = await world.get(Operation, "restart");
        progress.add(status?.progress);
        const old = (await world.list(Pod)).filter(({ metadata }) => before.includes(metadata.uid));
        if (old.length === 1) expect(old[0]?.metadata.name).toBe(leader);
        return status?.phase === "Succeeded";
      },
      within,
    );
    expect([...progress]).toEqual(expect.arrayContaining(["0/3", "1/3", "2/3"]));
    expect(memberNames(stage)).toEqual(names);
    const after = await podUids(stage);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
    await world.settled();
    await expectHealthy(stage);
    await expectNothingLost(world, writer);
    writer.stop();
    await world.run(minutes(5));
    expect(await podUids(stage)).toEqual(after);
    await world.expectQuiet();
  }),
);

test(
  "a Defragment gives back the space of each member once, the leader last, and another one does it again",
  scenario(802, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const leader = etcd.leader("orders");
    await world.apply(operation("first", "Defragment", { ttlSecondsAfterFinished: 60 }));
    await world.until("its end", async () => (await phaseOf(stage, "first")) === "Succeeded", within);
    expect([...etcd.defragmented].sort()).toEqual(memberNames(stage));
    expect(etcd.defragmented.at(-1)).toBe(leader);
    await world.run(minutes(5));
    expect(await phaseOf(stage, "first")).toBeUndefined();
    expect(etcd.defragmented).toHaveLength(3);
    await world.apply(operation("second", "Defragment"));
    await world.until("its end", async () => (await phaseOf(stage, "second")) === "Succeeded", within);
    expect(etcd.defragmented).toHaveLength(6);
    await expectHealthy(stage);
    await world.expectQuiet();
  }),
);

test.each(["Restart", "Defragment"] as const)("an operator that restarts goes on with a %s", async (type) => {
  const stage = await setUp(803);
  await using world = stage.world;
  await bootstrap(stage, claims);
  const before = await podUids(stage);
  await world.apply(operation("job", type));
  for (let restarts = 0; restarts < 5; restarts++) {
    await world.run(seconds(2));
    await world.restartOperator();
  }
  await world.until("its end", async () => (await phaseOf(stage, "job")) === "Succeeded", within);
  if (type === "Defragment") expect(new Set(stage.etcd.defragmented).size).toBe(3);
  else expect((await podUids(stage)).filter((uid) => before.includes(uid))).toEqual([]);
  await expectHealthy(stage);
});
