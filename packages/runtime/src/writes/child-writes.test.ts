import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  said,
  wrapper,
  Wrapper,
  wrapping,
} from "../run/controller-world.fixture.ts";

test("children.apply() makes what is wanted and deletes what no longer is, but not what others made for the object", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  const { metadata } = await client.create(Candy, candy("mint", "lime"));
  const manager = world.start([wrapping]);
  await world.settle(manager);
  const owner = { apiVersion: "example.com/v1", kind: "Candy", name: "lolly", uid: metadata.uid, controller: true };
  await client.create(Wrapper, Wrapper({ name: "theirs", namespace: "default", ownerReferences: [owner], data: {} }));
  await client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime", "plum"] } });
  await world.settle(manager);
  const names = (await client.listAll(Wrapper)).items.map((each) => each.metadata.name);
  expect(names).toEqual(["lolly-lime", "lolly-plum", "theirs"]);
});

test("prune() deletes what this run has not applied, and then there is nothing more to write", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "lime"));
  const plain = controller(Candy, {
    owns: [Wrapper],
    async reconcile({ spec }, { apply, children, status }) {
      for (const flavor of spec.flavors) await apply(wrapper(flavor));
      const pruned = await children.prune();
      await status({ wrappers: pruned.kind === "done" ? pruned.deleted : -1 });
    },
  });
  const manager = world.start([plain]);
  await world.settle(manager);
  await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["plum"] } });
  await world.settle(manager);
  expect((await world.client.listAll(Wrapper)).items.map((each) => each.metadata.name)).toEqual(["lolly-plum"]);
  const before = world.writes().length;
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect(world.writes().slice(before)).toEqual([]);
});

test("a controller leaves the children of another one alone whose field manager begins like its own", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const making = (name: string, fieldManager: string) =>
    controller(Candy, {
      ...{ name, fieldManager, owns: [Wrapper] },
      reconcile: async (_candy, { children }) =>
        void (await children.apply([Wrapper({ name, namespace: "default", data: {} })])),
    });
  const manager = world.start([making("one", "sweets"), making("two", "sweets/more")]);
  await world.settle(manager);
  manager.enqueue("one", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect((await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual(["one", "two"]);
  expect(world.writes().filter((write) => write.startsWith("DELETE"))).toEqual([]);
});

test("a changed copy of what was read is applied once, and has its owner once", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const copying = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_candy, { get, apply }) =>
      void (await apply({ ...(get(Wrapper, "lolly-mint") ?? wrapper("mint")), data: { flavor: "mint" } })),
  });
  const manager = world.start([copying]);
  await world.settle(manager);
  for (let i = 0; i < 2; i++) {
    manager.enqueue("candy", { name: "lolly", namespace: "default" });
    await world.settle(manager);
  }
  const before = world.writes().length;
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect(world.writes().slice(before)).toEqual([]);
  const present = await world.client.get(Wrapper, { name: "lolly-mint", namespace: "default" });
  expect(present.metadata.ownerReferences?.length).toBe(1);
});

test("a child whose name the server would choose is refused: a lost answer would make two", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const nameless = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_candy, { create }) => void (await create(Wrapper({ generateName: "lolly-", data: {} }))),
  });
  await world.settle(world.start([nameless]));
  expect(said(await world.candy(), "Stalled")).toContain('Cannot create ConfigMap "lolly-*"');
  expect(world.writes()).toEqual(["PATCH candies/lolly/status"]);
});

test("two children of one name are refused, instead of overwriting each other for ever", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "mint"));
  await world.settle(world.start([wrapping]));
  expect(said(await world.candy(), "Stalled")).toBe(
    'True Terminal: Cannot apply ConfigMap "lolly-mint": the set contains it twice',
  );
});

test("children are recreated or left alone where the author says so", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  await client.create(Candy, candy("mint", "lime"));
  let sort = "a";
  const strategic = controller(Candy, {
    owns: [Wrapper],
    async reconcile({ spec }, { children }) {
      await children.apply(
        spec.flavors.map((flavor) => wrapper(flavor, { sort })),
        { update: (child) => (child.metadata.name === "lolly-mint" ? "Recreate" : "OnDelete") },
      );
    },
  });
  const manager = world.start([strategic]);
  await world.settle(manager);
  const before = new Map((await client.listAll(Wrapper)).items.map((each) => [each.metadata.name, each.metadata.uid]));
  sort = "b";
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  const after = (await client.listAll(Wrapper)).items;
  expect(after.map(({ metadata, data }) => [metadata.name, data, before.get(metadata.name) === metadata.uid])).toEqual([
    ["lolly-lime", { sort: "a" }, true],
    ["lolly-mint", { sort: "b" }, false],
  ]);
});

test("what a run writes through the client of the context, it reads", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const read: unknown[] = [];
  const manager = world.start([
    controller(Candy, {
      owns: [Wrapper],
      reconcile: async (_object, { client, get }) => {
        if (get(Wrapper, "mint") !== undefined) return;
        await client.create(Wrapper, Wrapper({ name: "mint", namespace: "default", data: { sweet: "yes" } }));
        read.push(get(Wrapper, "mint")?.data);
      },
    }),
  ]);
  await world.settle(manager);
  expect(read).toEqual([{ sweet: "yes" }]);
});

test("children that were left for a change of their owner are deleted though its predicate lets the change pass by", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "lime"));
  const { client } = world;
  let isMeanwhile = false;
  const sized = controller(Candy, {
    owns: [Wrapper],
    predicate: (old, next) => old.spec.flavors.length !== next.spec.flavors.length,
    async reconcile({ spec }, { children }) {
      if (isMeanwhile) {
        isMeanwhile = false;
        await client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime"] } });
      }
      await children.apply(spec.flavors.map((flavor) => wrapper(flavor)));
    },
  });
  const manager = world.start([sized]);
  await world.settle(manager);
  isMeanwhile = true;
  await client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["mint"] } });
  await world.settle(manager);
  expect((await client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual(["lolly-lime"]);
});

test("what a run deletes through the client of the context, neither it nor the next one reads", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const read: unknown[] = [];
  const melting = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_object, { client, get, apply, list }) => {
      read.push(get(Wrapper, "lolly-mint")?.metadata.name);
      if (read.length > 2) return;
      await apply(wrapper("mint"));
      await client.delete(Wrapper, { name: "lolly-mint", namespace: "default" });
      read.push(list(Wrapper).length);
    },
  });
  const manager = world.start([melting]);
  await world.settle(manager);
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect(read.filter(Boolean)).toEqual([]);
});

test("a child that is applied after the set of all is refused, for it would go and come at every run", async () => {
  for (const second of ["children.apply", "apply"] as const) {
    await using world = createControllerWorld();
    await world.client.create(Candy, candy());
    const twice = controller(Candy, {
      owns: [Wrapper],
      async reconcile(_object, { children, apply }) {
        await children.apply([wrapper("mint")]);
        if (second === "apply") await apply(wrapper("lime"));
        else await children.apply([wrapper("lime")]);
      },
    });
    const manager = world.start([twice]);
    await world.run(60_000);
    expect(said(await world.candy(), "Stalled")).toContain("name all children in one set, or prune last");
    const before = world.writes().length;
    await world.run(600_000);
    expect(world.writes().length).toBe(before);
    await world.wait(manager.stop());
    expect((await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual(["lolly-mint"]);
  }
});

test("what is patched by its name and is not there is not looked for in another namespace", async () => {
  await using world = createControllerWorld();
  await world.client.create(Wrapper, Wrapper({ name: "mint", namespace: "default", data: { mine: "yes" } }));
  await world.client.create(Candy, Candy({ name: "lolly", namespace: "sweets", spec: { flavors: [] } }));
  const patching = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_object, { patch }) =>
      void (await patch(Wrapper({ name: "mint", data: {} }), { data: { of: "lolly" } })),
  });
  world.start([patching]);
  await world.run(1_000);
  expect(world.writes()).toContain("PATCH configmaps/mint");
  expect((await world.client.get(Wrapper, { name: "mint", namespace: "default" })).data).toEqual({ mine: "yes" });
});
