import type { Transport } from "@setpoint/apimachinery";
import { controller, outcome } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  said,
  wrapper,
  Wrapper,
  wrapping,
  type ControllerWorld,
} from "../run/controller-world.fixture.ts";

test("another owner's object of this name is never taken over, and the status names the owner", async () => {
  await using world = createControllerWorld();
  await world.client.create(Wrapper, wrapper("mint", { mine: "yes" }));
  await world.client.create(Candy, candy("mint", "lime"));
  const manager = world.start([wrapping]);
  await world.settle(manager);
  const message = 'Cannot apply ConfigMap "lolly-mint": it exists already and it has no owner';
  expect(said(await world.candy(), "Stalled")).toBe(`True NotOwned: ${message}`);
  expect(await world.client.get(Wrapper, { name: "lolly-mint", namespace: "default" })).toMatchObject({
    data: { mine: "yes" },
  });
  // The other child does not depend on this one.
  expect((await world.client.listAll(Wrapper)).items.length).toBe(2);
  const before = world.faults.sent.length;
  await world.run(3_600_000);
  expect(world.faults.sent.slice(before).filter(({ isWatch }) => !isWatch)).toEqual([]);
  await world.client.delete(Wrapper, { name: "lolly-mint", namespace: "default" });
  await world.run(120_000);
  expect(said(await world.candy(), "Stalled")).toMatch(/^False Accepted/);
  expect((await world.candy()).status?.wrappers).toBe(2);
});

test("a child of a namesake that is gone is waited for, and no longer than it is there", async () => {
  await using world = createControllerWorld();
  const owner = { apiVersion: "example.com/v1", kind: "Candy", name: "lolly", uid: "of-the-old-one", controller: true };
  const key = { name: "lolly-mint", namespace: "default" };
  await world.client.create(Wrapper, Wrapper({ ...key, ownerReferences: [owner], data: { old: "yes" } }));
  await world.client.create(Candy, candy("mint"));
  await world.settle(world.start([wrapping]));
  expect(said(await world.candy(), "Stalled")).toContain('it belongs to Candy "lolly" (of-the-old-one)');
  // As the garbage collector does.
  await world.client.delete(Wrapper, key);
  await world.run(1_000);
  expect((await world.client.get(Wrapper, key)).data).toEqual({ flavor: "mint" });
  expect(said(await world.candy(), "Stalled")).toMatch(/^False Accepted/);
});

test("another owner's object that the cache does not show yet is not taken over either", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let isBlind = true;
  const manager = world.start([wrapping], {
    transport: {
      async send(request, signal) {
        // Another client creates the object just before the first write.
        if (isBlind && request.method === "PATCH" && request.path.endsWith("lolly-mint")) {
          isBlind = false;
          await world.client.create(Wrapper, wrapper("mint", { mine: "yes" }));
        }
        return world.faults.send(request, signal);
      },
    },
  });
  await world.settle(manager);
  const present = await world.client.get(Wrapper, { name: "lolly-mint", namespace: "default" });
  expect(present.data).toEqual({ mine: "yes" });
  expect(present.metadata.ownerReferences).toBeUndefined();
  expect(said(await world.candy(), "Stalled")).toMatch(/^True NotOwned/);
});

test("a child that another client has replaced by its own object, unseen by the cache, is not taken over", async () => {
  await using world = createControllerWorld();
  const key = { name: "lolly-mint", namespace: "default" };
  await world.client.create(Candy, candy("mint"));
  let sort = "a";
  const sorting = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_candy, { apply }) => void (await apply(wrapper("mint", { sort }))),
  });
  let isReplaced = false;
  const manager = world.start([sorting], {
    transport: {
      async send(request, signal) {
        if (sort === "b" && !isReplaced && request.method === "PATCH" && request.path.endsWith("lolly-mint")) {
          isReplaced = true;
          await world.client.delete(Wrapper, key);
          await world.client.create(Wrapper, wrapper("mint", { mine: "yes" }));
        }
        return world.faults.send(request, signal);
      },
    },
  });
  await world.settle(manager);
  sort = "b";
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect(isReplaced).toBe(true);
  expect((await world.client.get(Wrapper, key)).data).toEqual({ mine: "yes" });
  expect(said(await world.candy(), "Stalled")).toMatch(/^True NotOwned/);
});

test("a child in another namespace than its owner is refused before anything is sent, with the way out", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const far = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_candy, { apply }) => void (await apply(Wrapper({ name: "a", namespace: "far", data: {} }))),
  });
  await world.settle(world.start([far]));
  expect(said(await world.candy(), "Stalled")).toBe(
    'True NotOwned: Cannot own ConfigMap "a" by Candy "lolly": it is in namespace "far" and its owner in "default"; pass `owner: false` and delete it in `cleanup`',
  );
  expect(world.writes()).toEqual(["PATCH candies/lolly/status"]);
});

/** Another client replaces the wrapper by another object just before our write arrives. */
function exchanging(world: ControllerWorld, method: string): Transport {
  let isExchanged = false;
  return {
    async send(request, signal) {
      if (request.method === method && request.path.endsWith("lolly-mint") && !isExchanged) {
        isExchanged = true;
        await world.client.delete(Wrapper, { name: "lolly-mint", namespace: "default" });
        await world.client.create(Wrapper, wrapper("mint", { flavor: "theirs" }));
      }
      return world.faults.send(request, signal);
    },
  };
}

test("delete() of an object that is only named means the one of the cache, and no namesake that comes meanwhile", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy());
  await world.client.create(Wrapper, wrapper("mint", { flavor: "ours" }));
  const tidy = controller(Candy, {
    owns: [Wrapper],
    reconcile: async ({ metadata: { annotations } }, context) => {
      if (annotations?.["tidied"] === undefined) await context.delete(wrapper("mint"));
    },
  });
  const manager = world.start([tidy], { transport: exchanging(world, "DELETE") });
  await world.settle(manager);
  expect((await world.client.get(Wrapper, { name: "lolly-mint", namespace: "default" })).data).toEqual({
    flavor: "theirs",
  });
});

test("patch() of an object that is only named means the one of the cache, and no namesake that comes meanwhile", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy());
  await world.client.create(Wrapper, wrapper("mint", { flavor: "ours" }));
  const outcomes: string[] = [];
  const stir = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_object, { patch }) => {
      outcomes.push((await outcome(patch(wrapper("mint"), { data: { stirred: "yes" } }))).kind);
    },
  });
  const manager = world.start([stir], { transport: exchanging(world, "PATCH") });
  await world.settle(manager);
  expect(outcomes[0]).toBe("refused");
});

test("delete() of an object that is only named asks the server where the cache shows none, and nothing there is done", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const reads: string[] = [];
  const tidy = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_object, context) => context.delete(wrapper("mint")),
  });
  const manager = world.start([tidy], {
    transport: {
      send(request, signal) {
        if (request.method === "GET" && request.path.endsWith("lolly-mint")) reads.push(request.path);
        return world.faults.send(request, signal);
      },
    },
  });
  await world.settle(manager);
  expect(reads.length).toBe(1);
  expect(world.writes()).toEqual([]);
});

test.each(["InPlace", "Recreate", "OnDelete"] as const)(
  "the child of another object of the same controller is neither deleted nor taken for one's own (%s)",
  async (update) => {
    await using world = createControllerWorld();
    const sharing = controller(Candy, {
      owns: [Wrapper],
      async reconcile({ metadata }, { children }) {
        await children.apply([Wrapper({ name: "shared", data: { of: metadata.name } })], { update: () => update });
      },
    });
    const key = { name: "shared", namespace: "default" };
    await world.client.create(Candy, Candy({ name: "first", namespace: "default", spec: { flavors: [] } }));
    const manager = world.start([sharing]);
    await world.settle(manager);
    const { metadata } = await world.client.get(Wrapper, key);
    await world.client.create(Candy, Candy({ name: "second", namespace: "default", spec: { flavors: [] } }));
    await world.settle(manager);
    expect(await world.client.get(Wrapper, key)).toMatchObject({
      metadata: { uid: metadata.uid },
      data: { of: "first" },
    });
    expect(said(await world.candy("second"), "Stalled")).toContain('it belongs to Candy "first"');
  },
);
