import { expect, test } from "vitest";
import { OwnersWorld, strike, times } from "./owners.fixture.ts";

/** Deaths in all, over both worlds: `SETPOINT_DEATHS=1000` asks for more. */
const deaths = Number(process.env["SETPOINT_DEATHS"] ?? "300");
const candies = 40;
/** Two retry periods of a clock that is a tenth slow, and the slowest requests. */
const recordWrittenMs = 4_000;

async function survive(world: OwnersWorld, size: number, deathCount: number): Promise<void> {
  await world.createCandies();
  for (let i = 0; i < size; i++) world.start();
  await world.fleet.run(20_000);
  for (let death = 0, strikes = 1; death < deathCount; strikes++) {
    await world.change(8);
    if (strike(world)) death++;
    if (strikes % 20 === 0) {
      await world.deleteRecord();
      // A member that lives writes the record again. Without one nobody remembers the epoch: the group starts
      // from the first.
      await world.fleet.run(recordWrittenMs);
    }
    if (strikes % 20 === 10) await world.spoilRecord();
    await world.fleet.run(500 + world.fleet.host.random.int(9_000));
    world.reap();
    while (world.lives.length < size) world.start();
    if (strikes % 25 === 0) await settle(world);
    expect(world.violations).toEqual([]);
  }
  await settle(world);
}

/** In the end some member has reconciled every change. */
async function settle(world: OwnersWorld): Promise<void> {
  for (let second = 0; second < 120; second += 10) {
    await world.fleet.run(10_000);
    world.reap();
    if ((await world.behind()).length === 0) return;
  }
  expect(await world.behind()).toEqual([]);
}

test(
  "two replicas under random deaths and pauses: one leads at a time, and nobody writes who was deposed",
  { timeout: 600_000 },
  async () => {
    await using world = new OwnersWorld(7, candies, true, ({ name }) => ({
      leaderElection: { name: "candies", namespace: "default", identity: name, ...times },
    }));
    await survive(world, 2, Math.round(deaths * 0.6));
    expect(world.writeCount).toBeGreaterThan(deaths * 0.6);
  },
);

test(
  "four shards under random deaths and pauses: every key has one owner an epoch, and nobody writes who was deposed",
  { timeout: 600_000 },
  async () => {
    await using world = new OwnersWorld(11, candies, false, ({ name }) => ({
      sharding: { name: "candies", namespace: "default", identity: name, drainSeconds: 3, ...times },
    }));
    await survive(world, 4, Math.round(deaths * 0.4));
    expect(world.writeCount).toBeGreaterThan(deaths * 0.4);
    const [life] = world.lives;
    expect(life?.manager.shard()).toMatchObject({ members: expect.any(Array) });
  },
);
