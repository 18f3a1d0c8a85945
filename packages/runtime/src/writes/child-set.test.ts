import { isApiError } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  refusal,
  wrapper,
  Wrapper,
  wrapping,
  type ControllerWorld,
} from "../run/controller-world.fixture.ts";
import { runsByHand } from "./run-by-hand.fixture.ts";

const names = async (world: ControllerWorld): Promise<readonly string[]> =>
  (await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name);
const lolly = { name: "lolly", namespace: "default" };

test("nothing is deleted for an object that has changed meanwhile, or has become another one", async () => {
  for (const meanwhile of ["nothing", "changed", "exchanged", "gone"]) {
    await using world = createControllerWorld();
    const parent = await world.client.create(Candy, candy("mint"));
    const hand = runsByHand(world);
    hand.show(await hand.begin(parent).context.apply(wrapper("mint")));
    if (meanwhile === "changed") await world.client.patch(Candy, lolly, { spec: { flavors: ["lime"] } });
    if (meanwhile === "exchanged" || meanwhile === "gone") await world.client.delete(Candy, lolly);
    if (meanwhile === "exchanged") await world.client.create(Candy, candy("mint"));
    const isDone = meanwhile === "nothing";
    expect(await hand.begin(parent).context.children.prune()).toEqual(
      isDone ? { kind: "done", deleted: 1 } : { kind: "postponed", reason: 'Candy "lolly" has changed meanwhile' },
    );
    expect(await names(world)).toEqual(isDone ? [] : ["lolly-mint"]);
  }
});

test("nothing is deleted for an object whose labels or annotations have changed meanwhile: children may follow from them", async () => {
  for (const change of [{ labels: { tier: "gold" } }, { annotations: { wrap: "gold" } }]) {
    await using world = createControllerWorld();
    const parent = await world.client.create(Candy, candy("mint"));
    const hand = runsByHand(world);
    hand.show(await hand.begin(parent).context.apply(wrapper("mint")));
    await world.client.patch(Candy, lolly, { metadata: change });
    expect(await hand.begin(parent).context.children.prune()).toMatchObject({ kind: "postponed" });
    expect(await names(world)).toEqual(["lolly-mint"]);
  }
});

test.each([
  ["nothing is deleted", "has", true],
  ["surplus is deleted", "has not", false],
])("%s for an object of a kind without generations that %s changed meanwhile", async (_, __, hasChanged) => {
  await using world = createControllerWorld();
  const ungenerated = <T extends Candy>({ metadata: { generation: _generation, ...metadata }, ...rest }: T): T =>
    ({ ...rest, metadata }) as T;
  const hand = runsByHand(world, wrapping, (inner) => ({
    async send(request, signal) {
      const answer = await inner.send(request, signal);
      const isCandy = answer.kind === "object" && request.path.endsWith("/candies/lolly");
      return isCandy ? { ...answer, object: ungenerated(answer.object as Candy) } : answer;
    },
  }));
  const parent = hand.show(ungenerated(await world.client.create(Candy, candy("mint"))));
  hand.show(await hand.begin(parent).context.apply(wrapper("mint")));
  if (hasChanged) await world.client.patch(Candy, lolly, { spec: { flavors: ["lime"] } });
  expect(await hand.begin(parent).context.children.prune()).toMatchObject({ kind: hasChanged ? "postponed" : "done" });
  expect(await names(world)).toEqual(hasChanged ? ["lolly-mint"] : []);
});

test("a status that another client has written meanwhile does not postpone deletions", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  hand.show(await hand.begin(parent).context.apply(wrapper("mint")));
  await world.client.patch(Candy, lolly, { status: { wrappers: 7 } }, { subresource: "status" });
  expect(await hand.begin(parent).context.children.prune()).toEqual({ kind: "done", deleted: 1 });
});

test("what the run has written to its object itself keeps nothing from being deleted", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  hand.show(await hand.begin(parent).context.apply(wrapper("mint")));
  const { context } = hand.begin(parent);
  await context.patch(parent, { metadata: { labels: { tier: "gold" } } });
  expect(await context.children.prune()).toEqual({ kind: "done", deleted: 1 });
});

test("a child that the server refuses keeps no other from being applied, but every deletion from being done", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  hand.show(await hand.begin(parent).context.apply(wrapper("old")));
  world.refuse = ({ method, path }) =>
    method === "PATCH" && /soap|tar/.test(path) ? refusal(422, "Invalid", `${path.slice(-4)} is no flavor`) : undefined;
  const set = (...flavors: readonly string[]): Promise<unknown> =>
    hand
      .begin(parent)
      .context.children.apply(flavors.map((flavor) => wrapper(flavor)))
      .catch((error: unknown) => error);
  const one = await set("soap", "mint");
  expect(isApiError(one) && one.message).toContain("soap is no flavor");
  const two = await set("soap", "lime", "tar");
  expect(two).toBeInstanceOf(AggregateError);
  expect(String(two)).toMatch(/Cannot apply 2 of 3 children: .*soap is no flavor.*; .*-tar is no flavor/);
  expect(await names(world)).toEqual(["lolly-lime", "lolly-mint", "lolly-old"]);
});

test("a write without an answer ends the run: what follows may rest on it", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const hand = runsByHand(world);
  world.faults.plan = ({ request }) => (request.path.endsWith("lolly-mint") ? { kind: "drop" } : undefined);
  const applied = hand.begin(parent).context.children.apply([wrapper("mint"), wrapper("lime")]);
  await expect(world.wait(applied)).rejects.toMatchObject({ code: "ERR_OUTCOME_UNKNOWN" });
  expect(await names(world)).toEqual([]);
});

test("two children of one name are refused before anything is sent, also two without a name", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const { context } = runsByHand(world).begin(parent);
  const nameless = { ...wrapper("mint"), metadata: {} };
  await expect(context.children.apply([wrapper("mint"), Wrapper({ name: "lolly-mint", data: {} })])).rejects.toThrow(
    'Cannot apply ConfigMap "lolly-mint": the set contains it twice',
  );
  await expect(context.children.apply([nameless, nameless])).rejects.toThrow(
    'Cannot apply ConfigMap "": the set contains it twice',
  );
  expect(world.writes()).toEqual([]);
});

test("a child without a name is refused for that, also after a prune", async () => {
  await using world = createControllerWorld();
  const parent = await world.client.create(Candy, candy("mint"));
  const { context } = runsByHand(world).begin(parent);
  await context.children.prune();
  const { name: _name, ...metadata } = wrapper("mint").metadata;
  await expect(context.apply({ ...wrapper("mint"), metadata })).rejects.toThrow("it has no metadata.name");
});
