import type { Transport } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { controller, declareConditions, TerminalError, type ConditionInit } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  refusal,
  said,
  type ControllerWorld,
} from "../run/controller-world.fixture.ts";
import { runsByHand } from "../writes/run-by-hand.fixture.ts";

const key = { name: "lolly", namespace: "default" };
const statusWrite = "PATCH candies/lolly/status";
const isTrue = (type: string, reason = "Now"): ConditionInit => ({ type, status: "True", reason, message: "" });

const types = ({ status }: Candy): readonly string[] => (status?.conditions ?? []).map(({ type }) => type);

/** Another manager sets a condition, and never by force. */
function giftShop(world: ControllerWorld, reason: string): Promise<Candy> {
  const conditions = [{ ...isTrue("Gift", reason), lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const body = { apiVersion: "example.com/v1", kind: "Candy", metadata: key, status: { conditions } };
  return world.client.applyStatus(Candy, body, { fieldManager: "gift-shop" });
}

/** A server that keeps of a status what it likes. */
const keeping =
  (change: (status: Record<string, unknown>) => object) =>
  (inner: Transport): Transport => ({
    async send(request, signal) {
      const answer = await inner.send(request, signal);
      if (answer.kind !== "object" || request.method !== "PATCH") return answer;
      const object = answer.object as { readonly status: Record<string, unknown> };
      return { ...answer, object: { ...object, status: change(object.status) } as unknown as typeof answer.object };
    },
  });

const warnings = (world: ControllerWorld): readonly string[] =>
  world.host.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
const lostFields = (world: ControllerWorld): readonly unknown[] =>
  world.host.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields?.["fields"]);

test("a status write is retried after a conflict three times, and then fails", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const conflicts = (count: number): void => {
    world.refuse = ({ method }) =>
      method === "PATCH" && count-- > 0 ? refusal(409, "Conflict", "changed") : undefined;
  };
  conflicts(3);
  await runsByHand(world).begin(parent).context.status({ wrappers: 1 });
  expect((await world.candy()).status?.wrappers).toBe(1);
  conflicts(20);
  await expect(runsByHand(world).begin(parent).context.status({ wrappers: 2 })).rejects.toThrow("changed");
  expect(world.writes().length).toBe(8);
});

test("a status is written over a change that the cache does not show yet, after a look at it", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  await world.client.patch(Candy, key, { metadata: { labels: { shelf: "top" } } });
  const hand = runsByHand(world);
  await hand.begin(hand.show(parent)).context.status({ wrappers: 1 });
  expect(hand.sent()).toEqual([statusWrite, "GET candies/lolly", statusWrite]);
});

test.each([
  ["meets a new generation", (world: ControllerWorld) => world.client.patch(Candy, key, { spec: { flavors: [] } })],
  ["is of an object that is gone", (world: ControllerWorld) => world.client.delete(Candy, key)],
])("a status that %s is not tried again, neither at the end of the run", async (_what, meanwhile) => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  const run = hand.begin(hand.show(parent));
  run.context.condition(isTrue("Tasted"));
  await meanwhile(world);
  world.refuse = ({ method }) => (method === "PATCH" ? refusal(409, "Conflict", "no") : undefined);
  await expect(run.context.status({ wrappers: 1 })).rejects.toMatchObject({ code: 409 });
  world.refuse = () => undefined;
  await run.report.flush();
  expect(world.writes()).toEqual([statusWrite]);
});

test("conditions set before a refused status are written when the run ends", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const run = runsByHand(world).begin(parent);
  run.context.condition(isTrue("Tasted"));
  world.refuse = ({ method }) => (method === "PATCH" ? refusal(422, "Invalid", "no") : undefined);
  await expect(run.context.status({ wrappers: 1 })).rejects.toMatchObject({ code: 422 });
  world.refuse = () => undefined;
  await run.report.flush();
  await run.report.flush();
  expect(world.writes()).toEqual([statusWrite, statusWrite]);
  const { status } = await world.candy();
  expect(status).toMatchObject({ conditions: [{ type: "Tasted", status: "True" }] });
  expect(status).not.toHaveProperty("wrappers");
});

test("the end of a run writes the conditions set after its status, and those that another manager has removed since", async () => {
  await using world = createControllerWorld();
  const hand = runsByHand(world);
  const first = hand.begin(hand.show(await world.client.create(Candy, candy("mint"))));
  first.context.condition(isTrue("Tasted"));
  await first.context.status({ wrappers: 1 });
  await first.report.flush();
  expect(hand.sent()).toEqual([statusWrite]);
  first.context.condition(isTrue("Packed"));
  await first.report.flush();
  expect(types(await world.candy())).toEqual(["Tasted", "Packed"]);
  const second = hand.begin(hand.show(await world.client.get(Candy, key)));
  second.context.condition(isTrue("Tasted"));
  await second.context.status({ wrappers: 2 });
  const bare = { ...(await world.client.get(Candy, key)), status: { wrappers: 2 } };
  hand.show(await world.client.updateStatus(Candy, bare));
  await second.report.flush();
  expect(types(await world.candy())).toEqual(["Tasted"]);
});

test("conditions that bring their own times are written as they come, all others get theirs", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const old = { type: "Tasted", status: "True", lastUpdateTime: "2020-01-01T00:00:00Z" };
  const timed = { ...old, lastTransitionTime: "2020-02-02T00:00:00Z" };
  await runsByHand(world)
    .begin(parent)
    .context.status({ conditions: [timed] });
  expect((await world.candy()).status?.conditions).toEqual([timed]);
  const again = await world.candy();
  await runsByHand(world)
    .begin(again as typeof parent)
    .context.status({ conditions: [isTrue("Packed")] });
  const lastTransitionTime = timestamp(world.host.clock);
  expect((await world.candy()).status?.conditions).toEqual([
    { ...isTrue("Packed"), observedGeneration: 1, lastTransitionTime },
  ]);
});

test("a status with conditions replaces all that the controller has said before, and leaves those of others", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const first = runsByHand(world).begin(parent);
  first.context.condition(isTrue("Packed"));
  await first.context.status({ wrappers: 1 });
  await giftShop(world, "Ribbon");
  const hand = runsByHand(world);
  hand.show(await world.client.get(Candy, key));
  await hand.begin(parent).context.status({ wrappers: 2, conditions: [isTrue("Tasted")] });
  expect(types(await world.candy()).toSorted()).toEqual(["Gift", "Tasted"]);
  await giftShop(world, "Bow");
});

test("a run that says a condition alone leaves the fields of its status as they are", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  await runsByHand(world).begin(parent).context.status({ wrappers: 7 });
  const hand = runsByHand(world);
  const run = hand.begin(hand.show(await world.client.get(Candy, key)));
  run.context.condition(isTrue("Tasted"));
  await run.report.flush();
  expect(await world.candy()).toMatchObject({ status: { wrappers: 7, conditions: [{ type: "Tasted" }] } });
});

test("a field of the status that another manager has set is taken over when the controller sets it", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const theirs = { apiVersion: "example.com/v1", kind: "Candy", metadata: key, status: { wrappers: 5 } };
  const shown = await world.client.applyStatus(Candy, theirs, { fieldManager: "other" });
  const hand = runsByHand(world);
  hand.show(shown);
  await hand.begin(parent).context.status({ wrappers: 6 });
  expect((await world.candy()).status?.wrappers).toBe(6);
});

test("conditions keep their order, and new ones come after them", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  await hand.begin(parent).context.status({ conditions: [isTrue("Washed"), isTrue("Packed")] });
  hand.show(await world.client.get(Candy, key));
  await hand.begin(parent).context.status({ conditions: [isTrue("Tasted"), isTrue("Packed"), isTrue("Washed")] });
  const [, body] = world.faults.writes.map(({ request }) => request.body as Candy);
  expect(body === undefined ? undefined : types(body)).toEqual(["Washed", "Packed", "Tasted"]);
});

test("an empty status is none: nothing is written where there is none", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const { group, version, kind, plural, namespaced } = Candy;
  const plain = controller({ group, version, kind, plural, namespaced }, { reconcile: async () => {} });
  await runsByHand(world, plain).begin(parent).context.status({});
  expect(world.writes()).toEqual([]);
});

test("what is compared is what is sent: a date that is there already is not written again", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const status = { tastedAt: new Date("2026-01-01T00:00:00Z"), by: undefined };
  await runsByHand(world).begin(parent).context.status(status);
  const hand = runsByHand(world);
  const written = await world.client.get(Candy, key);
  expect(written.status).toMatchObject({ tastedAt: "2026-01-01T00:00:00.000Z" });
  hand.show(written);
  await hand.begin(parent).context.status(status);
  expect(world.writes()).toEqual([statusWrite]);
});

test("the server is asked who has said what only where something stays, and once", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  const first = hand.begin(hand.show(parent));
  first.context.condition(isTrue("Tasted"));
  await first.report.flush();
  expect(hand.sent()).toEqual([statusWrite]);
  hand.show((await giftShop(world, "Ribbon")) as typeof parent);
  const second = hand.begin(parent);
  for (const type of ["Washed", "Packed"]) {
    second.context.condition(isTrue(type));
    await second.report.flush();
    // The cache shows the write, and not whose it was.
    hand.show(await world.client.get(Candy, key));
  }
  expect(hand.sent().slice(1)).toEqual(["GET candies/lolly", statusWrite, statusWrite]);
});

test("a condition that the server has already is not written again when only the cache lags", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const stale = (await giftShop(world, "Ribbon")) as typeof parent;
  for (const hand of [runsByHand(world), runsByHand(world)]) {
    const run = hand.begin(hand.show(stale));
    run.context.condition(isTrue("Tasted"));
    await run.report.flush();
    await world.run(5_000);
  }
  expect(world.writes()).toEqual([statusWrite]);
});

test("a status of which the server keeps another form is written once", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(
    world,
    undefined,
    keeping((status) => ({ ...status, weight: "1" })),
  );
  await hand.begin(parent).context.status({ weight: "1000m" });
  hand.show({
    ...(await world.client.get(Candy, key)),
    status: { weight: "1", observedGeneration: 1 } as Candy["status"],
  } as typeof parent);
  await hand.begin(parent).context.status({ weight: "1000m" });
  expect(world.writes()).toEqual([statusWrite]);
});

test.each([
  ["everything", (status: object) => status, []],
  [
    "the conditions in another order",
    (status: Candy["status"] & object) => ({ ...status, conditions: status.conditions?.toReversed() }),
    [],
  ],
  [
    "no generation in conditions",
    (status: Candy["status"] & object) => ({
      ...status,
      conditions: status.conditions?.map((each) => ({ ...each, observedGeneration: undefined })),
    }),
    [],
  ],
  ["no such field", (status: object) => ({ ...status, wrappers: undefined }), [["wrappers"]]],
  [
    "one condition less",
    (status: Candy["status"] & object) => ({ ...status, conditions: status.conditions?.slice(1) }),
    [["conditions[Tasted]"]],
  ],
] as const)("of a status the server keeps %s, and the log names what is missing", async (_what, change, lost) => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world, undefined, keeping(change as (status: object) => object));
  await hand.begin(parent).context.status({ wrappers: 1, conditions: [isTrue("Tasted"), isTrue("Packed")] });
  const message = "Status has fields that the server did not keep: are they in the kind's schema?";
  expect(warnings(world)).toEqual(lost.map(() => message));
  expect(lostFields(world)).toEqual(lost);
});

const health = declareConditions({ Wrapped: { polarity: "positive", reasons: { All: "True", Few: "False" } } });
const healthy = controller(Candy, { health, reconcile: async () => {} });

test("what an earlier run was refused counts until a run has ended well, unless the author says otherwise", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("soap"));
  const hand = runsByHand(world, healthy);
  const first = hand.begin(parent);
  first.report.thrown(new TerminalError("soap is no flavor"));
  await first.report.flush();
  const refused = hand.show(await world.client.get(Candy, key));
  const second = hand.begin(parent);
  second.context.condition(...health.of({ Wrapped: ["All", ""] }));
  await second.report.flush();
  expect(said(await world.candy(), "Ready")).toBe("False Terminal: soap is no flavor");
  second.report.concluded();
  await second.report.flush();
  expect(said(await world.candy(), "Ready")).toMatch(/^True/);
  hand.show({ ...refused, metadata: (await world.client.get(Candy, key)).metadata });
  const third = hand.begin(parent);
  third.context.condition(...health.of({ Wrapped: ["All", ""] }), { ...isTrue("Stalled", "Mine"), status: "False" });
  await third.report.flush();
  expect(said(await world.candy(), "Ready")).toMatch(/^True/);
  expect(said(await world.candy(), "Stalled")).toBe("False Mine: ");
});

test("a run that ends well takes back its refusal, but not what the author says under the same name", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("soap"));
  const hand = runsByHand(world);
  const stall = async (): Promise<void> => {
    const run = hand.begin(parent);
    run.report.thrown(new TerminalError("soap is no flavor"));
    await run.report.flush();
    hand.show(await world.client.get(Candy, key));
  };
  await stall();
  const silent = hand.begin(parent);
  silent.report.concluded();
  await silent.report.flush();
  expect(said(await world.candy(), "Stalled")).toBe("False Accepted: Nothing was refused");
  hand.show(await world.client.get(Candy, key));
  await stall();
  const saying = hand.begin(parent);
  saying.context.condition(isTrue("Stalled", "Mine"));
  saying.report.concluded();
  await saying.report.flush();
  expect(said(await world.candy(), "Stalled")).toBe("True Mine: ");
});
