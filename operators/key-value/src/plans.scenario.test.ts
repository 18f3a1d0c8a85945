/** Plans of an engine that has nothing but a size of its volume. */
import { seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import { setUp } from "./testing/key-value-stage.ts";

async function storageOf(world: World, name: string): Promise<unknown> {
  const claim = await world.get(PersistentVolumeClaim, `data-${name}`);
  return claim.spec?.resources?.requests?.["storage"];
}

test.each([
  ["the size of its plan", { plan: "large" }, "8Gi"],
  ["the size of its spec before that of its plan", { plan: "large", storage: "2Gi" }, "2Gi"],
  ["the usual size without a plan", {}, "1Gi"],
])("a store gets %s", async (_, spec, size) => {
  const { world } = await setUp(21);
  await using _world = world;
  await world.apply(KeyValueStore({ name: "shop", spec }));
  await world.settled();
  expect(await storageOf(world, "shop")).toBe(size);
});

test("a store with an unknown plan starts when its plan is corrected", async () => {
  const { world } = await setUp(22);
  await using _world = world;
  await world.apply(KeyValueStore({ name: "shop", spec: { plan: "huge" } }));
  await world.run(seconds(10));
  const message = 'plan "huge" is unknown: available plans are small, large';
  const refused = await world.get(KeyValueStore, "shop");
  expect(conditionOf(refused, "Available")).toMatchObject({ status: "False", reason: "PlanRefused", message });
  expect((await world.list(Pod)).map(({ metadata }) => metadata.name)).toEqual(["orders-0"]);
  await world.patch(KeyValueStore, "shop", { spec: { plan: "small" } });
  await world.settled();
  expect((await world.get(KeyValueStore, "shop")).status?.serving).toBe(true);
});
