import { changed, controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  noting,
  Wrapper,
  type ControllerWorld,
} from "./controller-world.fixture.ts";
import { Event } from "./served-kinds.fixture.ts";

const key = { name: "lolly", namespace: "default" };

const pause = (world: ControllerWorld, value: string | null) =>
  world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/paused": value } } });

async function eventReasons(world: ControllerWorld): Promise<readonly unknown[]> {
  await world.run(100);
  return (await world.client.listAll(Event)).items.map((event) => Reflect.get(event, "reason"));
}

test("a paused object is left alone, and caught up with when it is resumed", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const wrap = controller(Candy, {
    owns: { wrappers: Wrapper },
    predicate: changed("spec"),
    desired: ({ spec }) => ({ children: spec.flavors.map((name) => Wrapper({ name, data: {} })) }),
  });
  const manager = world.start([wrap]);
  await world.settle(manager);
  await pause(world, "true");
  await world.settle(manager);
  await world.client.patch(Candy, key, { spec: { flavors: ["mint", "lime"] } });
  await world.client.delete(Wrapper, { name: "mint", namespace: "default" });
  await world.run(60_000);
  expect((await world.client.listAll(Wrapper)).items).toEqual([]);
  expect(await eventReasons(world)).toContain("Paused");
  const why = await world.wait(manager.why({ kind: "Candy", ...key }));
  expect(why?.held).toBe('Not reconciled while the annotation setpoint.dev/paused is "true"');

  await pause(world, null);
  await world.settle(manager);
  expect((await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual(["lime", "mint"]);
  expect(await eventReasons(world)).toContain("Resumed");
});

test("an object that was paused before the start is left alone without a word", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  await pause(world, "true");
  const { runsMs, definition } = noting(world);
  await world.settle(world.start([definition]));
  expect(runsMs).toEqual([]);
  expect(await eventReasons(world)).toEqual([]);
});
