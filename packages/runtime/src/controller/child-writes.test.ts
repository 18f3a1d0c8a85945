import type { Transport } from "@setpoint/apimachinery";
import { controller, outcome } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  refusal,
  said,
  Wrapper,
  type ControllerWorld,
  type Refuse,
} from "./controller-world.fixture.ts";

const wrapper = (flavor: string, data: Wrapper["data"] = { flavor }): Wrapper =>
  Wrapper({ name: `lolly-${flavor}`, namespace: "default", data });

/** One wrapper a flavor, and none besides. */
const wrapping = controller(Candy, {
  owns: [Wrapper],
  async reconcile({ spec }, { applySet, status }) {
    await applySet(spec.flavors.map((flavor) => wrapper(flavor)));
    await status({ wrappers: spec.flavors.length });
  },
});

/** The server refuses to write this child. */
function refusing(flavor: string, ...answer: readonly [number, string, string, string?]): Refuse {
  return ({ method, path }) => (method !== "GET" && path.endsWith(`lolly-${flavor}`) ? refusal(...answer) : undefined);
}

test("applySet() makes what is wanted and deletes what no longer is, but not what others made for the object", async () => {
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
    async reconcile({ spec }, { apply, prune, status }) {
      for (const flavor of spec.flavors) await apply(wrapper(flavor));
      const pruned = await prune();
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
      reconcile: async (_candy, { applySet }) =>
        void (await applySet([Wrapper({ name, namespace: "default", data: {} })])),
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

test("an object of this name that is somebody else's is never taken over, and the status says whose it is", async () => {
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

test("an object of somebody else that the cache does not show yet is not taken over either", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let isBlind = true;
  const manager = world.start([wrapping], (inner) => ({
    async send(request, signal) {
      // In the moment before the first write somebody makes the object.
      if (isBlind && request.method === "PATCH" && request.path.endsWith("lolly-mint")) {
        isBlind = false;
        await world.client.create(Wrapper, wrapper("mint", { mine: "yes" }));
      }
      return inner.send(request, signal);
    },
  }));
  await world.settle(manager);
  const present = await world.client.get(Wrapper, { name: "lolly-mint", namespace: "default" });
  expect(present.data).toEqual({ mine: "yes" });
  expect(present.metadata.ownerReferences).toBeUndefined();
  expect(said(await world.candy(), "Stalled")).toMatch(/^True NotOwned/);
});

test("a child that somebody has replaced by an object of his own, unseen by the cache, is not taken over", async () => {
  await using world = createControllerWorld();
  const key = { name: "lolly-mint", namespace: "default" };
  await world.client.create(Candy, candy("mint"));
  let sort = "a";
  const sorting = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_candy, { apply }) => void (await apply(wrapper("mint", { sort }))),
  });
  let isReplaced = false;
  const manager = world.start([sorting], (inner) => ({
    async send(request, signal) {
      if (sort === "b" && !isReplaced && request.method === "PATCH" && request.path.endsWith("lolly-mint")) {
        isReplaced = true;
        await world.client.delete(Wrapper, key);
        await world.client.create(Wrapper, wrapper("mint", { mine: "yes" }));
      }
      return inner.send(request, signal);
    },
  }));
  await world.settle(manager);
  sort = "b";
  manager.enqueue("candy", { name: "lolly", namespace: "default" });
  await world.settle(manager);
  expect(isReplaced).toBe(true);
  expect((await world.client.get(Wrapper, key)).data).toEqual({ mine: "yes" });
  expect(said(await world.candy(), "Stalled")).toMatch(/^True NotOwned/);
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
    'True Terminal: Cannot apply ConfigMap "lolly-mint": it is wanted twice',
  );
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

test.each([
  ["an immutable field", "ImmutableField", [422, "Invalid", "data: Invalid value: {}: field is immutable"]],
  ["a value that a rule forbids", "Rejected", [422, "Invalid", "data: Invalid value: too sweet"]],
  [
    "a namespace that goes away",
    "NamespaceTerminating",
    [403, "Forbidden", "namespace default is being terminated", "NamespaceTerminating"],
  ],
] as const)("%s is tried once and waits for a change", async (_what, reason, answer) => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const [code, kind, message, cause] = answer as readonly [number, string, string, string?];
  world.refuse = refusing("mint", code, kind, message, cause);
  const manager = world.start([wrapping]);
  await world.settle(manager);
  expect(said(await world.candy(), "Stalled")).toBe(`True ${reason}: ${answer[2]}`);
  await world.run(3_600_000);
  expect(world.writes()).toEqual(["PATCH configmaps/lolly-mint", "PATCH candies/lolly/status"]);
  world.refuse = () => undefined;
  await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime"] } });
  await world.settle(manager);
  expect(said(await world.candy(), "Stalled")).toMatch(/^False Accepted/);
});

test("a quota that is used up is tried again ever more slowly, with one write of the status", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "lime"));
  world.refuse = refusing("mint", 403, "Forbidden", 'configmaps "lolly-mint" is forbidden: exceeded quota: few');
  const manager = world.start([wrapping]);
  await world.run(600_000);
  expect(said(await world.candy(), "Stalled")).toMatch(/^True QuotaExceeded/);
  expect(world.writes().filter((write) => write.endsWith("status")).length).toBe(1);
  expect(world.writes().filter((write) => write.endsWith("mint")).length).toBeLessThan(25);
  world.refuse = () => undefined;
  await world.run(1_100_000);
  await world.settle(manager);
  expect((await world.candy()).status?.wrappers).toBe(2);
});

test("outcome() tells done, refused with its reason, and unknown apart", async () => {
  await using world = createControllerWorld();
  await world.client.create(Wrapper, wrapper("mint"));
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const careful = controller(Candy, {
    owns: [Wrapper],
    async reconcile(_candy, { create }) {
      for (const flavor of ["mint", "lime", "plum"]) {
        const created = await outcome(create(wrapper(flavor)));
        seen.push(created.kind === "refused" ? `refused: ${created.reason ?? "?"}` : created.kind);
      }
    },
  });
  world.faults.plan = ({ request }) =>
    request.method === "POST" && JSON.stringify(request.body).includes("plum") ? { kind: "lose" } : undefined;
  await world.settle(world.start([careful]));
  expect(seen.slice(0, 3)).toEqual(["refused: NotOwned", "done", "unknown"]);
});

test("children are recreated or left alone where the author says so", async () => {
  await using world = createControllerWorld();
  const { client } = world;
  await client.create(Candy, candy("mint", "lime"));
  let sort = "a";
  const strategic = controller(Candy, {
    owns: [Wrapper],
    async reconcile({ spec }, { applySet }) {
      await applySet(
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

/** Somebody puts another object in the place of the wrapper just before a write of ours arrives. */
function exchanging(world: ControllerWorld, method: string): (inner: Transport) => Transport {
  let isExchanged = false;
  return (inner) => ({
    async send(request, signal) {
      if (request.method === method && request.path.endsWith("lolly-mint") && !isExchanged) {
        isExchanged = true;
        await world.client.delete(Wrapper, { name: "lolly-mint", namespace: "default" });
        await world.client.create(Wrapper, wrapper("mint", { flavor: "theirs" }));
      }
      return inner.send(request, signal);
    },
  });
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
  const manager = world.start([tidy], exchanging(world, "DELETE"));
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
  const manager = world.start([stir], exchanging(world, "PATCH"));
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
  const manager = world.start([tidy], (inner) => ({
    send(request, signal) {
      if (request.method === "GET" && request.path.endsWith("lolly-mint")) reads.push(request.path);
      return inner.send(request, signal);
    },
  }));
  await world.settle(manager);
  expect(reads.length).toBe(1);
  expect(world.writes()).toEqual([]);
});

test("what is to be written once is decided anew when the server is busy, not sent again later", async () => {
  let refused = 0;
  const refuse: Refuse = ({ method, path }) =>
    method === "PATCH" && path.endsWith("lolly-mint") && refused++ === 0
      ? refusal(429, "TooManyRequests", "busy")
      : undefined;
  await using world = createControllerWorld();
  world.refuse = refuse;
  const seen: number[] = [];
  const patching = controller(Candy, {
    owns: [Wrapper],
    async reconcile({ metadata }, { client, patch }) {
      const [present] = (await client.listAll(Wrapper)).items;
      if (present === undefined || metadata.name !== "lolly" || present.data?.["seen"] !== undefined) return;
      seen.push(refused);
      await patch(present, { data: { seen: "yes" } }, { once: true });
    },
  });
  await world.client.create(Wrapper, wrapper("mint"));
  await world.client.create(Candy, candy("mint"));
  world.start([patching]);
  await world.host.clock.run(60_000);
  expect(seen).toEqual([0, 1]);
});
