/** Controllers that own a part of a kind, by label. */
import type { ApiRequest } from "@setpoint/apimachinery";
import { controller, watching, type ControllerDefinition } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { Candy, candy, createControllerWorld, said, Wrapper, wrapper } from "../run/controller-world.fixture.ts";

const labels = { app: "candy" };
const selected = { kind: Wrapper, labelSelector: "app=candy" } as const;

function labelled(flavor: string): Wrapper {
  const { metadata, ...rest } = wrapper(flavor);
  return { ...rest, metadata: { ...metadata, labels } } as Wrapper;
}

const wrapping = controller(Candy, {
  owns: [selected],
  async reconcile({ spec }, { children, status }) {
    await children.apply(spec.flavors.map(labelled));
    await status({ wrappers: children.list(Wrapper).length });
  },
});

function listed(requests: readonly ApiRequest[]): readonly unknown[] {
  const lists = requests.filter(({ method, path }) => method === "GET" && path.endsWith("/configmaps"));
  return [...new Set(lists.map(({ query }) => query?.["labelSelector"]))];
}

test("only the owned part of a kind is listed and watched, and its children are applied, restored and pruned", async () => {
  await using world = createControllerWorld();
  const requests: ApiRequest[] = [];
  world.refuse = (request) => void requests.push(request);
  const foreign = wrapper("foreign");
  await world.client.create(Wrapper, foreign);
  const manager = world.start([wrapping]);
  await world.client.create(Candy, candy("mint", "lime"));
  await world.settle(manager);
  expect(listed(requests)).toEqual(["app=candy"]);
  expect((await world.candy()).status?.wrappers).toBe(2);

  await world.client.delete(Wrapper, { name: "lolly-mint", namespace: "default" });
  await world.settle(manager);
  const again = await world.client.get(Wrapper, { name: "lolly-mint", namespace: "default" });
  expect(again.metadata.labels).toEqual(labels);

  await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime"] } });
  await world.settle(manager);
  const { items } = await world.client.listAll(Wrapper);
  expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(["lolly-foreign", "lolly-lime"]);
});

test("a child whose label another client has removed gets it again", async () => {
  await using world = createControllerWorld();
  const manager = world.start([wrapping]);
  await world.client.create(Candy, candy("mint"));
  await world.settle(manager);
  const key = { name: "lolly-mint", namespace: "default" };
  const before = await world.client.patch(Wrapper, key, { metadata: { labels: { app: null } } });
  await world.settle(manager);
  const { metadata } = await world.client.get(Wrapper, key);
  expect(metadata.labels).toEqual(labels);
  expect(metadata.uid).toBe(before.metadata.uid);
  expect((await world.candy()).status?.wrappers).toBe(1);
});

test("a child that the selector leaves out is refused before it is sent, with the labels and the selector", async () => {
  await using world = createControllerWorld();
  const forgetting = controller(Candy, {
    owns: [selected],
    reconcile: async (_candy, { apply }) => void (await apply(wrapper("mint"))),
  });
  const manager = world.start([forgetting]);
  await world.client.create(Candy, candy("mint"));
  await world.settle(manager);
  expect(said(await world.candy(), "Stalled")).toBe(
    'True Terminal: Cannot write ConfigMap "lolly-mint": its labels {} do not match "app=candy", by which controller "candy" owns ConfigMap; add the labels',
  );
  expect(world.writes()).not.toContain("PATCH configmaps/lolly-mint");
});

test("a pure controller owns a part of a kind under a name", async () => {
  await using world = createControllerWorld();
  const pure = controller(Candy, {
    owns: { wrappers: selected },
    desired: ({ spec }, { wrappers }) => ({
      children: spec.flavors.map(labelled),
      status: { wrappers: wrappers.length },
    }),
  });
  const manager = world.start([pure]);
  await world.client.create(Candy, candy("mint"));
  await world.settle(manager);
  expect((await world.candy()).status?.wrappers).toBe(1);
  expect(pure.owns).toEqual([Wrapper]);
});

const reconcile = async (): Promise<void> => {};

test.each<readonly [string, () => ControllerDefinition]>([
  [
    'the labelSelector "app in" of ConfigMap cannot be read',
    () => controller(Candy, { owns: [{ kind: Wrapper, labelSelector: "app in" }], reconcile }),
  ],
  ["`owns` names ConfigMap twice", () => controller(Candy, { owns: [Wrapper, selected], reconcile })],
  [
    "owns ConfigMap and watches a selection of it",
    () =>
      controller(Candy, {
        owns: [selected],
        watches: [watching(Wrapper, () => [], { labelSelector: "a=b" })],
        reconcile,
      }),
  ],
])("a declaration is refused: %s", (problem, declare) => {
  expect(declare).toThrow(problem);
});

test("a selection of the cache is no problem for a controller with its own", async () => {
  await using world = createControllerWorld();
  const kinds = [{ kind: Wrapper, labelSelector: "app=other" }];
  expect(() => world.start([wrapping], { caches: { kinds } })).not.toThrow();
  expect(() => world.start([wrapping], { caches: { kinds: [{ kind: Wrapper, metadataOnly: true }] } })).toThrow(
    "keeps only a part of ConfigMap (metadataOnly)",
  );
});
