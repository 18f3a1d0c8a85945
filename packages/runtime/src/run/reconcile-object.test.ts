import { controller, type ControllerOptions } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  notesOf,
  refusal,
  type ControllerWorld,
} from "./controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

/**
 * A candy that is being deleted, under a controller with this cleanup; how often it was cleaned up and is
 * still there.
 */
async function deleted(world: ControllerWorld, cleanup: ControllerOptions<Candy>["cleanup"]) {
  let count = 0;
  const melting = controller(Candy, {
    reconcile: async () => {},
    async cleanup(object, context) {
      count++;
      return cleanup?.(object, context);
    },
  });
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([melting]);
  await world.settle(manager);
  return {
    manager,
    async count(): Promise<{ readonly cleanups: number; readonly left: number }> {
      await world.client.delete(Candy, key);
      await world.run(60_000);
      return { cleanups: count, left: (await world.client.listAll(Candy)).items.length };
    },
  };
}

test("an object whose cleanup has finished goes, also when the server does not take its last status", async () => {
  await using world = createControllerWorld();
  const melting = await deleted(world, async (_candy, { condition }) => {
    condition({ type: "Melted", status: "True", reason: "Warm", message: "" });
  });
  world.refuse = ({ path }) => (path.endsWith("/status") ? refusal(422, "Invalid", "a rule is against it") : undefined);
  expect(await melting.count()).toEqual({ cleanups: 1, left: 0 });
});

test("an object whose cleanup waits stays, and says so when the server takes its status again", async () => {
  await using world = createControllerWorld();
  const melting = await deleted(world, async (_candy, { condition, awaitChange }) => {
    condition({ type: "Melted", status: "False", reason: "Cold", message: "" });
    return awaitChange();
  });
  let refusals = 0;
  world.refuse = ({ path }) =>
    path.endsWith("/status") && refusals++ < 2 ? refusal(422, "Invalid", "a rule is against it") : undefined;
  expect(await melting.count()).toEqual({ cleanups: 3, left: 1 });
  expect((await world.candy()).status?.conditions).toMatchObject([{ type: "Melted", reason: "Cold" }]);
});

test("a finalizer that another client has removed with its object is no failure", async () => {
  await using world = createControllerWorld();
  const melting = await deleted(world, async () => {
    await world.client.patch(Candy, key, { metadata: { finalizers: [] } });
  });
  expect(await melting.count()).toEqual({ cleanups: 1, left: 0 });
  expect(melting.manager.metrics()).not.toMatch(/reconcile_errors_total\{.*\} [1-9]/);
});

test("an event reports an object that leaves the selection with its finalizer: nobody cleans it up", async () => {
  await using world = createControllerWorld();
  const golden = controller(Candy, {
    select: { labelSelector: "tier=gold" },
    reconcile: async () => {},
    cleanup: async () => {},
  });
  const labels = { tier: "gold" };
  await world.client.create(Candy, Candy({ ...key, labels, spec: { flavors: [] } }));
  await world.client.create(Candy, Candy({ ...key, name: "deleted", labels, spec: { flavors: [] } }));
  const manager = world.start([golden]);
  await world.settle(manager);
  await world.client.delete(Candy, { ...key, name: "deleted" });
  await world.client.patch(Candy, key, { metadata: { labels: { tier: "silver" } } });
  await world.run(1_000);
  expect((await world.candy()).metadata.finalizers).toEqual(["example.com/candy"]);
  expect(await notesOf(world, "LeftSelection")).toEqual([
    'The object no longer matches the selector of controller "candy" and still has its finalizer "example.com/candy": a deletion waits until another controller, or a person, removes it',
  ]);
});

/** What the server answers to a GET, by the way of refusals. */
function answer(metadata: object): ReturnType<typeof refusal> {
  return { code: 200, metadata } as unknown as ReturnType<typeof refusal>;
}

test("an object goes by its cleanup while its definition stays, and releases its data when the definition goes", async () => {
  for (const [definition, expected] of [
    [answer({ name: "candies" }), "cleanup"],
    [answer({ name: "candies", deletionTimestamp: "2026-01-01T00:00:00Z" }), "release"],
    [refusal(404, "NotFound", "it is gone"), "release"],
  ] as const) {
    await using world = createControllerWorld();
    const done: string[] = [];
    const owning = controller(Candy, {
      reconcile: async () => {},
      cleanup: async () => void done.push("cleanup"),
      releaseData: async () => void done.push("release"),
    });
    world.refuse = ({ path }) => (path.includes("/customresourcedefinitions/") ? definition : undefined);
    await world.client.create(Candy, candy("mint"));
    const manager = world.start([owning]);
    await world.settle(manager);
    await world.client.delete(Candy, key);
    await world.run(1_000);
    expect(done).toEqual([expected]);
    await expect(world.client.get(Candy, key)).rejects.toThrow("not found");
  }
});

test("an object that owns data stays while nobody can say whether its definition is going", async () => {
  await using world = createControllerWorld();
  const done: string[] = [];
  const owning = controller(Candy, { reconcile: async () => {}, releaseData: async () => void done.push("release") });
  world.refuse = ({ path }) =>
    path.includes("/customresourcedefinitions/") ? refusal(403, "Forbidden", "you may not") : undefined;
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([owning]);
  await world.settle(manager);
  await world.client.delete(Candy, key);
  await world.run(60_000);
  expect(done).toEqual([]);
  await world.client.get(Candy, key);
});
