import { awaitChange, controller, requeueAfter, type Result } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  notesOf,
  said,
  wrapper,
  Wrapper,
  type ControllerWorld,
} from "./controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

/** Deletes a candy whose cleanup does this. */
async function deleting(world: ControllerWorld, cleanup: () => Promise<Result | void>): Promise<void> {
  const definition = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_object, { apply }) => void (await apply(wrapper("mint"))),
    cleanup,
  });
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([definition]);
  await world.settle(manager);
  await world.client.delete(Candy, key);
}

test("a deletion that hangs says which finalizer and which child hold it and since when, in a condition and an event", async () => {
  await using world = createControllerWorld();
  await deleting(world, async () => requeueAfter(30_000, "the wrapper is still sticky"));
  await world.run(200_000);
  const since = (await world.candy()).metadata.deletionTimestamp;
  const message = `Deletion requested at ${since}. Finalizer "example.com/candy" waits for the cleanup: the wrapper is still sticky. Next try in at most 1 min. Remaining children: ConfigMap "lolly-mint" (not being deleted).`;
  expect(said(await world.candy(), "Terminating")).toBe(`True CleanupPending: ${message}`);
  expect(await notesOf(world, "CleanupPending")).toEqual([message]);
});

test("a cleanup that waits for a change is reported although nothing wakes its key, once", async () => {
  await using world = createControllerWorld();
  await deleting(world, async () => awaitChange());
  const before = world.writes().length;
  await world.run(3_600_000);
  expect(said(await world.candy(), "Terminating")).toContain("which waits for a change.");
  expect(world.writes().slice(before)).toEqual(["PATCH candies/lolly/status"]);
});

test("a cleanup that fails is reported with its error, under its own name", async () => {
  await using world = createControllerWorld();
  await deleting(world, () => Promise.reject(new Error("the bin is full")));
  await world.run(400_000);
  expect(said(await world.candy(), "Terminating")).toContain("True CleanupFailed: Deletion requested at");
  expect(said(await world.candy(), "Terminating")).toContain("which failed: the bin is full.");
  expect(said(await world.candy(), "Ready")).toContain("False ReconcileFailed: Cleanup failed: the bin is full.");
  const logged = world.host.lines.filter(({ level }) => level === "error").map(({ message }) => message);
  expect(new Set(logged)).toEqual(new Set(["Cleanup failed"]));
});

test("a finalizer of another controller that holds the deletion is named", async () => {
  await using world = createControllerWorld();
  const manager = world.start([controller(Candy, { reconcile: async () => {}, cleanup: async () => {} })]);
  await world.client.create(Candy, { ...candy("mint"), metadata: { ...key, finalizers: ["other.example/bin"] } });
  await world.settle(manager);
  await world.client.delete(Candy, key);
  await world.run(30_000);
  expect(said(await world.candy(), "Terminating")).toBeUndefined();
  await world.run(60_000);
  expect((await world.candy()).metadata.finalizers).toEqual(["other.example/bin"]);
  expect(said(await world.candy(), "Terminating")).toContain(
    'Waiting for the owners of finalizers "other.example/bin" to remove them.',
  );
});

test("a deletion that ends soon is not reported", async () => {
  await using world = createControllerWorld();
  let attempts = 0;
  await deleting(world, async () => (++attempts < 3 ? requeueAfter(5_000, "soon") : undefined));
  await world.run(200_000);
  expect(attempts).toBe(3);
  expect(await notesOf(world, "CleanupPending")).toEqual([]);
  expect(world.writes().filter((write) => write.endsWith("status"))).toEqual([]);
});
