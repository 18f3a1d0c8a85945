import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "setpoint/kinds";
import { type OperatorProcess, OrderService, simulate } from "setpoint/testing";
import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { z } from "zod";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ order: z.string().optional() }),
});

/** Orders candy from a factory outside of the cluster and keeps a wrapper for it. */
function candyOperator(factory: OrderService, process: OperatorProcess): Operator {
  return defineOperator({
    name: "candy",
    controllers: [
      controller(Candy, {
        owns: [ConfigMap],
        async reconcile({ metadata, spec, status }, context) {
          await context.apply(ConfigMap({ name: `${metadata.name}-wrapper`, data: { flavor: spec.flavor } }));
          if (status?.order !== undefined) return;
          // Look before you act: an earlier process may have ordered, and died before it could note it.
          const [known] = await process.call("factory find", "look", () => factory.find(metadata.uid));
          const order =
            known ??
            (await process.call("factory order", "write", () =>
              factory.order({ reference: metadata.uid, flavor: spec.flavor }),
            ));
          await context.status({ order: order.id });
        },
      }),
    ],
  });
}

const lolly = Candy({ name: "lolly", spec: { flavor: "mint" } });

/** A world with a factory, in which nothing has happened yet. */
async function candyWorld(seed: number) {
  const factory = new OrderService();
  const world = await simulate({
    seed,
    models: [factory],
    operators: [(process) => candyOperator(factory, process)],
  });
  return { world, factory };
}

test("candy is ordered once, and then there is silence", async () => {
  const { world, factory } = await candyWorld(7);
  await using _world = world;
  await world.apply(lolly);
  await world.settled();
  assert.equal(factory.orders.length, 1);
  await world.expectQuiet({ hours: 1 });
});

test("a crash before or after any write, and any lost answer, orders nothing twice", async () => {
  for (const write of [1, 2, 3])
    for (const strike of ["before", "after", "lose"] as const) {
      const { world, factory } = await candyWorld(write);
      await using _world = world;
      if (strike === "lose") world.loseAnswerOf(write);
      else world.crashOperatorAt(write, strike);
      await world.apply(lolly);
      await world.settled();
      assert.deepEqual(factory.duplicates, []);
      assert.equal((await world.get(Candy, "lolly")).status?.order, factory.orders[0]?.id);
    }
});

test("a factory that is cut off for a minute is waited for", async () => {
  const { world, factory } = await candyWorld(1);
  await using _world = world;
  factory.network.fail("partitioned");
  await world.apply(lolly);
  await world.run(60_000);
  assert.equal(factory.orders.length, 0);
  factory.network.heal();
  await world.settled();
  assert.equal(factory.orders.length, 1);
});
