import { isApiError, type ApiRequest, type Transport } from "@setpoint/apimachinery";
import { isOutcomeUnknown, type Stored } from "@setpoint/client";
import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  refusal,
  Wrapper,
  type ControllerWorld,
} from "../run/controller-world.fixture.ts";
import { runsByHand, stored } from "./run-by-hand.fixture.ts";

const key = { name: "lolly-mint", namespace: "default" };
const wrapper = (data: Wrapper["data"] = { flavor: "mint" }): Wrapper => Wrapper({ ...key, data });
const lime = Wrapper({ name: "lolly-lime", namespace: "default", data: {} });

/** A candy, runs over it, and a child that an earlier run has made and the cache shows. */
async function afterFirstRun(world: ControllerWorld) {
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  const child = hand.show(await hand.begin(parent).context.apply(wrapper()));
  return { parent, hand, child };
}

/** An object of this name that belongs to the candy, in place of the one that is there. */
async function exchanged(world: ControllerWorld, child: Stored<Wrapper>): Promise<Stored<Wrapper>> {
  await world.client.delete(Wrapper, key);
  const { ownerReferences = [] } = child.metadata;
  return world.client.create(Wrapper, Wrapper({ ...key, ownerReferences, data: { other: "yes" } }));
}

/** Bodies of the requests with this method for the wrapper. */
const bodies = (world: ControllerWorld, method: string): readonly unknown[] =>
  world.faults.sent
    .map(({ request }) => request)
    .filter((request) => request.method === method && request.path.endsWith(key.name))
    .map(({ body }) => body);

const isFor = ({ method, path }: ApiRequest, wanted: string): boolean =>
  method === wanted && path.endsWith(`/configmaps/${key.name}`);

/** A server that answers writes of the wrapper in its own way. */
const answering =
  (method: string, change: (object: Record<string, unknown>) => unknown) =>
  (inner: Transport): Transport => ({
    async send(request, signal) {
      const answer = await inner.send(request, signal);
      if (answer.kind !== "object" || !isFor(request, method)) return answer;
      return { ...answer, object: change(answer.object as Record<string, unknown>) as typeof answer.object };
    },
  });

/** Quantities that are the same to a server that says them shorter. */
const heavy = wrapper({ weight: "1000m" });
const inOwnWords = answering("PATCH", (object) => ({ ...object, data: { weight: "1" } }));

test("a run reads what it has applied, created, patched and deleted, whatever the cache shows", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  const { context } = hand.begin(parent);
  const applied = await context.apply(wrapper());
  expect(context.get(Wrapper, key.name)).toEqual(applied);
  await context.create(lime);
  expect(context.children.list(Wrapper).map(({ metadata }) => metadata.name)).toEqual(["lolly-mint", "lolly-lime"]);
  await context.patch(applied, { data: { stirred: "yes" } });
  expect(context.get(Wrapper, key.name)?.data).toEqual({ flavor: "mint", stirred: "yes" });
  hand.show(applied);
  await context.delete(applied);
  expect(context.get(Wrapper, key.name)).toBeUndefined();
});

test("a child that waits for a finalizer after its deletion is still read, with its mark", async () => {
  await using world = createControllerWorld();
  const { hand, parent } = await afterFirstRun(world);
  const kept = hand.show(await world.client.patch(Wrapper, key, { metadata: { finalizers: ["example.com/wait"] } }));
  const { context } = hand.begin(parent);
  await context.delete(kept);
  expect(context.get(Wrapper, key.name)?.metadata.deletionTimestamp).toBeDefined();
});

test("an object that was read is meant itself, also where the cache shows a namesake already", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  const namesake = hand.show(await exchanged(world, child));
  const { context } = hand.begin(parent);
  await expect(context.patch(child, { data: { stirred: "yes" } })).rejects.toThrow();
  await context.delete(child);
  expect(context.get(Wrapper, key.name)).toEqual(namesake);
  expect((await stored(world, Wrapper, key.name)).data).toEqual({ other: "yes" });
});

test("a deletion is done also where the server answers a Status without metadata", async () => {
  await using world = createControllerWorld();
  const { parent, child } = await afterFirstRun(world);
  const hand = runsByHand(
    world,
    undefined,
    answering("DELETE", () => ({ kind: "Status", status: "Success" })),
  );
  const { context } = hand.begin(parent);
  hand.show(child);
  await context.delete(child);
  expect(context.get(Wrapper, key.name)).toBeUndefined();
});

test("what was deleted or is gone is not read, and no longer remembered, however the server says so", async () => {
  for (const meanwhile of ["nothing", "gone", "exchanged"]) {
    await using world = createControllerWorld();
    const parent = await world.client.create(Candy, candy("mint"));
    const hand = runsByHand(world, undefined, inOwnWords);
    const child = hand.show(await hand.begin(parent).context.apply(heavy));
    expect(hand.memory.size).toBe(1);
    if (meanwhile === "gone") await world.client.delete(Wrapper, key);
    if (meanwhile === "exchanged") await exchanged(world, child);
    const { context } = hand.begin(parent);
    await context.delete(child);
    expect(context.get(Wrapper, key.name)).toBeUndefined();
    expect(hand.memory.size).toBe(0);
  }
});

test("the options of a deletion reach the server, and those that were not given do not", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  const { uid, resourceVersion } = child.metadata;
  const { context } = hand.begin(parent);
  const common = { kind: "DeleteOptions", apiVersion: "v1" };
  world.refuse = (request) => (isFor(request, "DELETE") ? refusal(403, "Forbidden", "not now") : undefined);
  await expect(context.delete(child)).rejects.toThrow("not now");
  await expect(
    context.delete(child, { unchanged: true, gracePeriodSeconds: 0, propagation: "Foreground" }),
  ).rejects.toThrow("not now");
  expect(bodies(world, "DELETE")).toStrictEqual([
    { ...common, preconditions: { uid } },
    {
      ...common,
      preconditions: { uid, resourceVersion },
      gracePeriodSeconds: 0,
      propagationPolicy: "Foreground",
    },
  ]);
  // A refused deletion has changed nothing.
  expect(context.get(Wrapper, key.name)).toEqual(child);
});

test("with unchanged a change by others is a conflict, without it is not", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  await world.client.patch(Wrapper, key, { data: { sticker: "new" } });
  const { context } = hand.begin(parent);
  await expect(context.patch(child, { data: { a: "1" } }, { unchanged: true })).rejects.toMatchObject({ code: 409 });
  await expect(context.delete(child, { unchanged: true })).rejects.toMatchObject({ code: 409 });
  expect(context.get(Wrapper, key.name)).toEqual(child);
  expect((await context.patch(child, { data: { a: "1" } })).data).toEqual({ flavor: "mint", sticker: "new", a: "1" });
  await context.delete(child);
  await expect(stored(world, Wrapper, key.name)).rejects.toThrow("not found");
});

test.each(["PATCH", "DELETE"])("a %s meets a busy server again, unless it was to be tried once", async (method) => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  const { context } = hand.begin(parent);
  const write = (options: { readonly once?: boolean }): Promise<unknown> =>
    method === "PATCH" ? context.patch(child, { data: {} }, options) : context.delete(child, options);
  let busyTimes = 1;
  world.refuse = (request) =>
    isFor(request, method) && busyTimes-- > 0 ? refusal(429, "TooManyRequests", "busy") : undefined;
  await expect(world.wait(write({ once: true }))).rejects.toThrow("busy");
  busyTimes = 1;
  await world.wait(write({}));
  expect(busyTimes).toBe(-1);
});

test("a patch of what nobody has is refused by the server, not by the run", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const { context } = runsByHand(world).begin(parent);
  const error = await context.patch(wrapper(), { data: {} }).catch((each: unknown) => each);
  expect(isApiError(error) && error.code).toBe(404);
});

test("a write without an answer is looked after, a refused one is not", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  const writes = (run: ReturnType<typeof hand.begin>): readonly (() => Promise<unknown>)[] => [
    () => run.context.apply(wrapper({ flavor: "lime" })),
    () => run.context.patch(child, { data: {} }),
    () => run.context.delete(child),
  ];
  for (const index of [0, 1, 2]) {
    const lost = hand.begin(parent);
    world.faults.plan = ({ writeNumber }) => (writeNumber > 0 ? { kind: "drop" } : undefined);
    const error = await world.wait(writes(lost)[index]?.() ?? Promise.resolve()).catch((each: unknown) => each);
    expect([isOutcomeUnknown(error), lost.writes.isEmpty]).toEqual([true, false]);
    world.faults.plan = () => undefined;
    const refused = hand.begin(parent);
    world.refuse = ({ method }) => (method === "GET" ? undefined : refusal(403, "Forbidden", "no"));
    await expect(writes(refused)[index]?.()).rejects.toThrow("no");
    expect(refused.writes.isEmpty).toBe(true);
    world.refuse = () => undefined;
  }
});

test("limits are asked before each write, and told which of them can only make something", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  const { context } = hand.begin(parent);
  await context.create(lime);
  const applied = await context.apply(wrapper({ flavor: "lime" }));
  await context.apply(Wrapper({ name: "loose", data: {} }), { owner: false });
  await context.patch(applied, { data: {} });
  await context.delete(applied);
  expect(hand.planned).toEqual([
    ...["apply lolly-mint new", "create lolly-lime new", "apply lolly-mint", "apply loose"],
    ...["patch lolly-mint", "delete lolly-mint"],
  ]);
  expect(child.metadata.ownerReferences?.length).toBe(1);
});

test("a child that is ours is applied although the cache shows another one, or one that is gone", async () => {
  for (const meanwhile of ["exchanged", "gone"]) {
    await using world = createControllerWorld();
    const { hand, parent, child } = await afterFirstRun(world);
    await (meanwhile === "gone" ? world.client.delete(Wrapper, key) : exchanged(world, child));
    const { context } = hand.begin(parent);
    await context.apply(wrapper({ flavor: "plum" }));
    expect((await stored(world, Wrapper, key.name)).data["flavor"]).toBe("plum");
    // A recreated child is no change.
    const second = meanwhile === "gone" ? "apply lolly-mint new" : "apply lolly-mint";
    expect(hand.planned).toEqual(["apply lolly-mint new", "apply lolly-mint", second]);
  }
});

test("a child that another client has replaced belongs to that client, and the run gets an error", async () => {
  await using world = createControllerWorld();
  const { hand, parent } = await afterFirstRun(world);
  await world.client.delete(Wrapper, key);
  await world.client.create(Wrapper, wrapper({ mine: "yes" }));
  const { context } = hand.begin(parent);
  await expect(context.apply(wrapper({ flavor: "plum" }))).rejects.toMatchObject({ code: "ERR_NOT_OWNED" });
});

test("a refusal of an apply is not taken for a change by others", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  await exchanged(world, child);
  world.refuse = (request) => (isFor(request, "PATCH") ? refusal(422, "Invalid", "no such flavor") : undefined);
  await expect(hand.begin(parent).context.apply(wrapper({ flavor: "soap" }))).rejects.toThrow("no such flavor");
  expect(bodies(world, "PATCH").length).toBe(2);
});

test("a child that the server keeps in its own words is not applied again for them", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world, undefined, inOwnWords);
  const shown = hand.show(await hand.begin(parent).context.apply(heavy));
  expect(await hand.begin(parent).context.apply(heavy)).toEqual(shown);
  expect(world.writes().length).toBe(1);
  hand.show({ ...shown, data: { weight: "2" } });
  await hand.begin(parent).context.apply(heavy);
  expect(world.writes().length).toBe(2);
});

test("a child that the server keeps in its own words is known also as a list shows it, with its type at the end", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world, undefined, inOwnWords);
  const { apiVersion, kind, ...content } = await hand.begin(parent).context.apply(heavy);
  hand.show({ ...content, apiVersion, kind });
  await hand.begin(parent).context.apply(heavy);
  expect(world.writes().length).toBe(1);
});

test("of a child that the server keeps as it was wanted nothing is remembered but that there was one", async () => {
  await using world = createControllerWorld();
  const { hand } = await afterFirstRun(world);
  expect(hand.memory.size).toBe(0);
  expect([...hand.memory.kinds()]).toEqual(["configmaps"]);
});

test("create() of a child that is there and ours gives it, and the run reads it from then on", async () => {
  await using world = createControllerWorld();
  const { hand, parent, child } = await afterFirstRun(world);
  hand.hide(child);
  const run = hand.begin(parent);
  expect((await run.context.create(wrapper())).metadata.uid).toBe(child.metadata.uid);
  expect(run.context.get(Wrapper, key.name)?.metadata.uid).toBe(child.metadata.uid);
  expect(run.writes.isEmpty).toBe(false);
});

test("a child without any name is refused before anything is sent", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const { context } = runsByHand(world).begin(parent);
  const nameless = { ...wrapper(), metadata: {} };
  await expect(context.create(nameless)).rejects.toThrow('Cannot create ConfigMap "*": after a lost response');
  await expect(context.apply(nameless)).rejects.toThrow("Cannot apply ConfigMap: it has no metadata.name");
  expect(world.writes()).toEqual([]);
});

test("no child is made again for an object that is gone, which the cache may not show yet", async () => {
  for (const way of ["apply", "create"] as const) {
    await using world = createControllerWorld();
    const parent = await world.client.create(Candy, candy("mint"));
    const hand = runsByHand(world);
    await hand.begin(parent).context[way](wrapper());
    await world.client.delete(Candy, { name: "lolly", namespace: "default" });
    await world.client.delete(Wrapper, key);
    const { context } = hand.begin(parent);
    const message = 'Cannot make children of Candy "lolly": it is deleted on the server, and the cache still has it';
    await expect(context.apply(wrapper())).rejects.toThrow(message);
    await expect(context.create(wrapper())).rejects.toThrow(message);
    // What belongs to nobody does not depend on it.
    await context.create(Wrapper({ name: "loose", data: {} }), { owner: false });
    await context.apply(Wrapper({ name: "looser", data: {} }), { owner: false });
    expect((await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual([
      "loose",
      "looser",
    ]);
    // A namesake is another object.
    await world.client.create(Candy, candy("mint"));
    await expect(hand.begin(parent).context.apply(wrapper())).rejects.toThrow(message);
  }
});

test("the server is asked for the object once a run, and by the run that makes the first children never", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  for (const asked of [0, 1]) {
    const before = hand.sent().length;
    const { context } = hand.begin(parent);
    await context.apply(wrapper());
    await context.create(lime);
    expect(
      hand
        .sent()
        .slice(before)
        .filter((each) => each === "GET candies/lolly").length,
    ).toBe(asked);
    await world.client.delete(Wrapper, key);
    await world.client.delete(Wrapper, { name: "lolly-lime", namespace: "default" });
  }
});

test("a run that has written the status of its object need not ask whether it is there", async () => {
  await using world = createControllerWorld();
  const { hand, parent } = await afterFirstRun(world);
  const { context } = hand.begin(parent);
  await context.status({ phase: "Wrapped" });
  const before = hand.sent().length;
  await context.create(lime);
  expect(hand.sent().slice(before)).toEqual(["POST /api/v1/namespaces/default/configmaps"]);
});

test("a kind of children is asked for by itself: others of the same object are no reason", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world, controller(Candy, { owns: [Wrapper], reconcile: async () => {} }));
  hand.memory.rememberKind("secrets");
  await hand.begin(parent).context.apply(wrapper());
  expect(hand.sent()).toEqual(["PATCH configmaps/lolly-mint"]);
});

test("fields of another manager are a conflict where the author does not take them over", async () => {
  await using world = createControllerWorld();
  const { hand, parent } = await afterFirstRun(world);
  const theirs = { ...wrapper({ flavor: "theirs" }) };
  await world.client.apply(Wrapper, theirs, { fieldManager: "other", force: true });
  const { context } = hand.begin(parent);
  await expect(context.apply(wrapper({ flavor: "ours" }), { force: false })).rejects.toMatchObject({ code: 409 });
  expect((await context.apply(wrapper({ flavor: "ours" }))).data).toEqual({ flavor: "ours" });
});

test("a child whose lists are replaced before its apply does not count as new in the write limits", async () => {
  await using world = createControllerWorld();
  const { parent, hand } = await afterFirstRun(world);
  hand.show(await world.client.patch(Wrapper, key, { items: ["theirs"] }));
  let refusals = 1;
  world.refuse = ({ method }) =>
    method === "PATCH" && refusals-- > 0 ? refusal(422, "Invalid", "items[1]: Duplicate value") : undefined;
  await hand.begin(parent).context.apply({ ...wrapper(), items: ["ours"] } as Wrapper);
  expect(hand.planned.slice(1)).toEqual(["apply lolly-mint", "patch lolly-mint", "apply lolly-mint"]);
});
