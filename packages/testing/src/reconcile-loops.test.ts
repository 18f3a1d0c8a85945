/** Runs that go on for ever without a request: a world that only looks for writes would call them settled. */
import { ConfigMap } from "@setpoint/api";
import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { reconcilerLaws, simulate, type World } from "./index.ts";

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ eaten: z.int().optional() }),
});
const lolly = Candy({ name: "lolly", spec: { flavor: "mint" } });
const counting = "the sugar is counted";
const looping =
  'controller "candy" reconciles "default/lolly" again and again although nothing but its own writes has changed';

async function worldOf(candies: Operator["controllers"][number]): Promise<World> {
  return simulate({ seed: 1, operators: [defineOperator({ name: "candy", controllers: [candies] })] });
}

test("a key that runs again at once for ever is not settled, and the message names it and its reason", async () => {
  await using world = await worldOf(
    controller(Candy, { reconcile: async (_candy, { requeueAfter }) => requeueAfter(0, counting) }),
  );
  await world.apply(lolly);
  await expect(world.settled()).rejects.toThrow(`${looping}; the last run wants another one: "${counting}"`);
  await expect(world.expectQuiet()).rejects.toThrow(`Not quiet: ${looping}`);
});

test("a child that each run changes is not settled, however slow the loop has become", async () => {
  let runs = 0;
  await using world = await worldOf(
    controller(Candy, {
      owns: [ConfigMap],
      reconcile: async (_candy, { apply }) => void (await apply(ConfigMap({ name: "w", data: { runs: `${++runs}` } }))),
    }),
  );
  await world.apply(lolly);
  await expect(world.settled({ within: 600_000 })).rejects.toThrow(looping);
});

test("a loop that ends is settled", async () => {
  let runs = 0;
  await using world = await worldOf(
    controller(Candy, {
      async reconcile(_candy, { awaitChange, requeueAfter }) {
        return ++runs < 125 ? requeueAfter(0, counting) : awaitChange();
      },
    }),
  );
  await world.apply(lolly);
  await world.settled({ within: 300_000 });
  // The one more takes the condition back.
  expect(runs).toBe(126);
  await world.expectQuiet();
});

test("a key that looks again every few seconds is settled", async () => {
  await using world = await worldOf(
    controller(Candy, { reconcile: async (_candy, { requeueAfter }) => requeueAfter(2_000, counting) }),
  );
  await world.apply(lolly);
  await world.settled();
  await world.expectQuiet();
});

test("the laws find a loop without any request", async () => {
  const candies = controller(Candy, { reconcile: async (_candy, { requeueAfter }) => requeueAfter(0, counting) });
  const operator = defineOperator({ name: "candy", controllers: [candies] });
  await expect(reconcilerLaws(operator, { worlds: [lolly], seconds: 5, faults: [] })).rejects.toThrow(looping);
});
