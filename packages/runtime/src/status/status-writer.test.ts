import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, said, type ControllerWorld } from "../run/controller-world.fixture.ts";
import { ownStatusOf } from "./own-status.ts";

const key = { name: "lolly", namespace: "default" };
const gift = (reason: string) => ({
  ...{ type: "Gift", status: "True", reason, message: "a ribbon" },
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

/** Another manager sets a condition by server-side apply, and never by force. */
function giftShop(world: ControllerWorld, ...reasons: readonly string[]): Promise<unknown> {
  const status = { conditions: reasons.map(gift) };
  const body = { apiVersion: "example.com/v1", kind: "Candy", metadata: key, status };
  return world.client.applyStatus(Candy, body, { fieldManager: "gift-shop" });
}

/** Says a condition of the spec alone, and once also that it was packed. */
const tasting = controller(Candy, {
  async reconcile({ spec }, { condition }) {
    const [taste = "None"] = spec.flavors;
    condition({ type: "Tasted", status: "True", reason: taste, message: "" });
    if (taste === "Mint") condition({ type: "Packed", status: "True", reason: "Once", message: "" });
  },
});

async function taste(world: ControllerWorld, flavor: string): Promise<void> {
  await world.client.patch(Candy, key, { spec: { flavors: [flavor] } });
}

const types = async (world: ControllerWorld): Promise<readonly string[]> =>
  ((await world.candy()).status?.conditions ?? []).map(({ type }) => type).toSorted();

/** The same beside a field of its status. */
const counting = controller(Candy, {
  async reconcile(tasted, context) {
    await tasting.reconcile(tasted, context, { step: undefined });
    await context.status({ wrappers: tasted.spec.flavors.length });
  },
});

test.each([
  ["beside a condition", tasting],
  ["beside a whole status", counting],
])("another manager's condition stays its own %s: it changes it without force", async (_what, definition) => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("Mint"));
  await giftShop(world, "Ribbon");
  const manager = world.start([definition]);
  await world.settle(manager);
  await taste(world, "Lime");
  await world.settle(manager);
  expect(await types(world)).toEqual(["Gift", "Packed", "Tasted"]);
  await giftShop(world, "Bow");
  expect(said(await world.candy(), "Gift")).toBe("True Bow: a ribbon");
  await giftShop(world);
  expect(await types(world)).toEqual(["Packed", "Tasted"]);
});

test("a condition that another manager writes while ours is on its way survives, and ours is not lost", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("Mint"));
  const manager = world.start([tasting]);
  await world.settle(manager);
  let isWritten = false;
  const between = controller(Candy, {
    name: "between",
    async reconcile(_object, { condition }) {
      condition({ type: "Wrapped", status: "True", reason: "Now", message: "" });
      if (!isWritten) await giftShop(world, "Ribbon");
      isWritten = true;
    },
  });
  await world.settle(world.start([between]));
  expect(await types(world)).toEqual(["Gift", "Packed", "Tasted", "Wrapped"]);
});

test("a condition that an earlier run has set stays, also after a restart", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("Mint"));
  const first = world.start([tasting]);
  await world.settle(first);
  await world.wait(first.stop());
  await taste(world, "Lime");
  await world.settle(world.start([tasting]));
  const packed = (await world.candy()).status?.conditions?.find(({ type }) => type === "Packed");
  expect(packed).toMatchObject({ status: "True", reason: "Once" });
  expect(said(await world.candy(), "Tasted")).toContain("True Lime");
});

test("one change costs one write of the status, also beside other managers' conditions, and at rest none", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("Mint"));
  await giftShop(world, "Ribbon");
  const manager = world.start([tasting]);
  await world.settle(manager);
  expect(world.writes()).toEqual(["PATCH candies/lolly/status"]);
  for (const flavor of ["Lime", "Plum"]) {
    await taste(world, flavor);
    await world.settle(manager);
  }
  expect(world.writes().length).toBe(3);
  manager.enqueue("candy", key);
  await world.settle(manager);
  await world.wait(manager.stop());
  await world.settle(world.start([tasting]));
  expect(world.writes().length).toBe(3);
});

test("a condition does not take over status fields that another manager has set", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("Mint"));
  const weigh = (grams: number) =>
    world.client.applyStatus(
      Candy,
      { apiVersion: "example.com/v1", kind: "Candy", metadata: key, status: { scales: { grams } } } as never,
      { fieldManager: "scales" },
    );
  await weigh(12);
  const manager = world.start([tasting]);
  await world.settle(manager);
  await taste(world, "Lime");
  await world.settle(manager);
  await weigh(13);
  expect((await world.candy()).status).toMatchObject({ scales: { grams: 13 } });
});

test("a condition that was taken over earlier is given back to its author", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("Mint"));
  await giftShop(world, "Ribbon");
  const body = { apiVersion: "example.com/v1", kind: "Candy", metadata: key, status: { conditions: [gift("Ribbon")] } };
  await world.client.applyStatus(Candy, body, { fieldManager: tasting.fieldManager, force: true });
  await world.settle(world.start([tasting]));
  await giftShop(world, "Bow");
  expect(said(await world.candy(), "Gift")).toBe("True Bow: a ribbon");
});

test("where the server takes the conditions for one list, those of others are sent along, or they would be gone", () => {
  const entry = (manager: string, fields: object) => ({
    ...{ manager, operation: "Apply", subresource: "status", fieldsType: "FieldsV1" },
    fieldsV1: { "f:status": { "f:conditions": fields } },
  });
  const status = { conditions: [gift("Ribbon"), { ...gift("Tasted"), type: "Tasted" }] };
  const object = (...managedFields: readonly object[]) =>
    ({ ...candy(), metadata: { name: "lolly", managedFields }, status }) as never;
  const typesOf = (...entries: readonly object[]) =>
    ownStatusOf(object(...entries), "candy")?.conditions.map(({ type }) => type);
  expect(typesOf(entry("other", {}))).toEqual(["Gift", "Tasted"]);
  const tasted = { 'k:{"type":"Tasted"}': { ".": {}, "f:type": {}, "f:status": {} } };
  expect(typesOf(entry("candy", tasted))).toEqual(["Tasted"]);
  expect(ownStatusOf({ ...candy(), metadata: { name: "lolly" } }, "candy")).toBeUndefined();
});
