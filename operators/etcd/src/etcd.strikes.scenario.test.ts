/** A start and a replacement with a fault at each write of the operator; in the simulated world. */
import type { World } from "setpoint/testing";
import { minutes, seconds } from "setpoint";
import { describe, expect, test } from "vitest";
import {
  claims,
  cluster,
  expectHealthy,
  expectNothingLost,
  setUp,
  startWriter,
  type Stage,
} from "./testing/etcd-stage.ts";

/** Starts a cluster, loses its leader and heals: what the faults below strike at each write. */
async function startAndHeal(stage: Stage): Promise<void> {
  const { world, etcd } = stage;
  await world.apply(cluster("orders", claims));
  await world.settled({ within: minutes(5) });
  const writer = startWriter(stage);
  await world.run(seconds(5));
  world.kill(etcd.leader("orders") ?? "");
  await world.settled({ within: minutes(5) });
  await expectHealthy(stage);
  await expectNothingLost(world, writer);
  writer.stop();
  await world.expectQuiet({ hours: 0.25 });
}

/** How often the operator writes without any fault. */
async function countWrites(seed: number): Promise<number> {
  const stage = await setUp(seed);
  await using world = stage.world;
  await startAndHeal(stage);
  return world.operatorWrites;
}

/** Each so many worlds, one is run twice, to see that it repeats. */
const repeatEach = 10;

// Each test runs some 45 worlds: 20 s alone, and beyond the project's limit beside other loads.
describe("a start and a replacement", { timeout: minutes(5) }, () => {
  const seed = 31;
  const strikes = {
    "a crash before": (world: World, write: number) => world.crashOperatorAt(write, "before"),
    "a crash after": (world: World, write: number) => world.crashOperatorAt(write, "after"),
    "a lost answer of": (world: World, write: number) => world.loseAnswerOf(write),
  };

  test.each(Object.entries(strikes))("survive %s each write of the operator", async (what, strike) => {
    const writes = await countWrites(seed);
    expect(writes).toBeGreaterThan(20);
    const run = async (write: number): Promise<string> => {
      const stage = await setUp(seed);
      await using world = stage.world;
      strike(world, write);
      await startAndHeal(stage).catch((cause: unknown) => {
        throw new Error(`${what} write ${write} of ${writes} is not survived: ${(cause as Error).message}`, { cause });
      });
      return world.traceHash();
    };
    for (let write = 1; write <= writes; write++) {
      const hash = await run(write);
      if (write % repeatEach === 0) expect(await run(write), `${what} write ${write}`).toBe(hash);
    }
  });
});
