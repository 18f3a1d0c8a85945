/** Failovers in a row: each history of the log keeps a number of its own. */
import { minutes } from "setpoint";
import { expect, test } from "vitest";
import { begin, expectHealthy, nodeOf, setUp } from "./testing/postgres-stage.ts";

test("a primary that dies as soon as it is promoted leaves no second history of the same timeline", async () => {
  const stage = await setUp(1);
  await using world = stage.world;
  const { postgres } = stage;
  await begin(stage);
  await world.run(2_000);
  world.failNode(await nodeOf(stage, "orders-1"));
  await world.until("a promotion", () => postgres.primary() !== undefined);
  const second = postgres.primary()?.name ?? "";
  // The operator has not heard of its timeline yet.
  world.failNode(await nodeOf(stage, second));
  await world.run(60_000);
  expect(postgres.violations).toEqual([]);
  for (const node of ["node-0", "node-1", "node-2"]) await world.recoverNode(node).catch(() => {});
  await world.settled({ within: minutes(5) });
  await expectHealthy(stage);
});
