/** Timeouts that follow from the network between members; in the simulated world. */
import { Pod } from "setpoint/kinds";
import { minutes } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  expectNothingLost,
  memberNames,
  podUids,
  scenario,
  type Stage,
  startWriter,
} from "./testing/etcd-stage.ts";

async function tuning({ world }: Stage): Promise<NonNullable<EtcdCluster["status"]>["tuning"]> {
  return (await world.get(EtcdCluster, "orders")).status?.tuning;
}

/** What each member runs with; the same for all. */
async function timeouts({ world }: Stage): Promise<readonly string[]> {
  const all = (await world.list(Pod)).map(({ spec }) =>
    (spec?.containers[0]?.args ?? []).filter((each) => /^--(heartbeat|election)/.test(each)).join(" "),
  );
  return [...new Set(all)];
}

test(
  "members in regions far apart get longer timeouts, one at a time, and no second time",
  scenario(701, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, tuning: "auto" });
    const writer = startWriter(stage);
    const [far = ""] = memberNames(stage);
    etcd.farAway(far, 180);
    await world.until("members are measured", async () => (await tuning(stage)) !== undefined, { within: minutes(15) });
    const wanted = "--heartbeat-interval=200 --election-timeout=2000";
    await world.until("all members have them", async () => (await timeouts(stage)).join() === wanted, {
      within: minutes(10),
    });
    await world.settled();
    const decided = await tuning(stage);
    expect(decided).toMatchObject({
      heartbeatMilliseconds: 200,
      electionMilliseconds: 2_000,
      measuredMilliseconds: 180,
    });
    expect(decided?.between).toContain(far);
    expect(decided?.message).toMatch(/^Measured 180 ms between .*: heartbeat 200 ms, election 2000 ms$/);
    expect(await timeouts(stage)).toEqual([wanted]);
    await expectHealthy(stage);
    const pods = await podUids(stage);
    etcd.farAway(far, 230);
    await world.run(minutes(60));
    expect(await tuning(stage)).toEqual(decided);
    expect(await podUids(stage)).toEqual(pods);
    await expectNothingLost(world, writer);
    writer.stop();
  }),
);

test(
  "members near each other keep etcd's timeouts, and none restarts",
  scenario(702, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, tuning: "auto" });
    const pods = await podUids(stage);
    await world.run(minutes(30));
    expect((await tuning(stage))?.message).toContain("etcd's defaults fit: heartbeat 100 ms, election 1000 ms");
    expect(await timeouts(stage)).toEqual([""]);
    expect(await podUids(stage)).toEqual(pods);
    await world.expectQuiet();
  }),
);

test(
  "options of the user win over what was measured",
  scenario(703, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, tuning: "auto", options: { "election-timeout": "5000" } });
    for (const name of memberNames(stage)) etcd.farAway(name, 180);
    const pods = await podUids(stage);
    await world.run(minutes(30));
    expect(await timeouts(stage)).toEqual(["--election-timeout=5000"]);
    expect(await podUids(stage)).toEqual(pods);
  }),
);

test(
  "nothing is measured or changed without being asked",
  scenario(704, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    for (const name of memberNames(stage)) etcd.farAway(name, 180);
    await world.run(minutes(30));
    expect(await tuning(stage)).toBeUndefined();
    expect(await timeouts(stage)).toEqual([""]);
  }),
);
