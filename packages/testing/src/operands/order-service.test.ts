import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { type OperatorProcess, simulate } from "../index.ts";
import { OrderService } from "./order-service.ts";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ order: z.string().optional() }),
});

/** Orders first and notes it afterwards: what the answer does not tell it, it does not know. */
function naive(factory: OrderService, process: OperatorProcess): Operator {
  return defineOperator({
    name: "candy",
    controllers: [
      controller(Candy, {
        async reconcile({ metadata, spec, status }, context) {
          if (status?.order !== undefined) return;
          const { id } = await process.call("factory order", "write", () =>
            factory.order({ reference: metadata.name, flavor: spec.flavor, idempotencyKey: metadata.uid }),
          );
          await context.status({ order: id });
        },
      }),
    ],
  });
}

async function ordersAfterALostAnswer(factory: OrderService): Promise<readonly string[]> {
  await using world = await simulate({ seed: 3, models: [factory], operators: [(process) => naive(factory, process)] });
  factory.network.loseAnswers(1);
  await world.apply(Candy({ name: "lolly", spec: { flavor: "mint" } }));
  await world.settled();
  expect((await world.get(Candy, "lolly")).status?.order).toBeDefined();
  return factory.duplicates;
}

test("a lost answer makes a naive operator order twice, unless the factory knows its key", async () => {
  expect(await ordersAfterALostAnswer(new OrderService())).toEqual(["lolly"]);
  expect(await ordersAfterALostAnswer(new OrderService({ idempotent: true }))).toEqual([]);
});

test("an order is made in its time, unless it is cancelled before", async () => {
  const factory = new OrderService({ workMsMax: 5_000 });
  await using world = await simulate({ seed: 1, models: [factory] });
  const first = await world.wait(factory.order({ reference: "a", flavor: "mint" }));
  const second = await world.wait(factory.order({ reference: "b", flavor: "lime" }));
  await world.wait(factory.cancel(second.id));
  await world.run(6_000);
  expect((await world.wait(factory.get(first.id))).state).toBe("made");
  expect((await world.wait(factory.get(second.id))).state).toBe("cancelled");
  await expect(world.wait(factory.cancel(first.id))).rejects.toThrow("made already");
});

test("a factory that is down refuses, one that is hung or cut off never answers, one that is broken says so", async () => {
  const factory = new OrderService();
  await using world = await simulate({ seed: 1, models: [factory] });
  const ask = (): Promise<unknown> => world.wait(factory.find("a"));
  factory.network.fail("down");
  await expect(ask()).rejects.toThrow("ECONNREFUSED");
  factory.network.fail("partitioned");
  await expect(ask()).rejects.toThrow("ETIMEDOUT");
  factory.network.heal();
  factory.refuse(1);
  await expect(ask()).rejects.toMatchObject({ status: 503 });
  expect(await ask()).toEqual([]);
});
