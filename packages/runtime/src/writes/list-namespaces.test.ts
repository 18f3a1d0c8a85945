/** 24 2.4: a list of one namespace and a list of all look different. */
import { controller, watching } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, wrapper, Wrapper } from "../run/controller-world.fixture.ts";

const namesOf = (wrappers: readonly Wrapper[]): readonly string[] =>
  wrappers.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted();

test("24 2.4: list() reads the namespace of the object, another one by its name, and all on request", async () => {
  await using world = createControllerWorld();
  await world.client.create(Wrapper, wrapper("mint"));
  await world.client.create(Wrapper, Wrapper({ name: "far", namespace: "other", data: {} }));
  await world.client.create(Candy, candy("mint"));
  const read: (readonly string[])[] = [];
  const reader = controller(Candy, {
    watches: [Wrapper],
    reconcile: async (_candy, { list }) => {
      read.push(
        namesOf(list(Wrapper)),
        namesOf(list(Wrapper, { namespace: "other" })),
        namesOf(list(Wrapper, { allNamespaces: true })),
      );
    },
  });
  await world.settle(world.start([reader]));
  expect(read.slice(0, 3)).toEqual([["default/lolly-mint"], ["other/far"], ["default/lolly-mint", "other/far"]]);
});

test("24 2.4: a list of the cache without a namespace is refused with what to do", async () => {
  await using world = createControllerWorld();
  await world.client.create(Wrapper, wrapper("mint"));
  const refused: unknown[] = [];
  const reader = controller(Candy, {
    watches: [
      watching(Wrapper, (_wrapper, cache) => {
        try {
          cache.list(Candy, { namespace: undefined });
        } catch (error) {
          refused.push(error);
        }
        return [];
      }),
    ],
    reconcile: async () => {},
  });
  await world.settle(world.start([reader]));
  expect(refused[0]).toMatchObject({
    code: "ERR_NAMESPACE_MISSING",
    message: "Cannot list Candy: no namespace is given; set `namespace`, or `allNamespaces: true`",
  });
});
