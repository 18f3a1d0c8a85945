import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { MvccStorage } from "../../storage/mvcc-storage.ts";
import { storageCheck } from "./storage-check.ts";

/** A storage whose disk is full when the test says so. */
function world() {
  const clock = new VirtualClock(seededRandom(1));
  const disk = { isFull: false, commits: 0 };
  const journal = {
    entries: [],
    revision: 1,
    commit() {
      disk.commits++;
      if (disk.isFull) throw new Error("database or disk is full");
    },
    close() {},
  };
  const storage = new MvccStorage({ clock, log: silentLogger, journal });
  const check = storageCheck(storage, clock);
  const write = (): Promise<unknown> =>
    clock.wait(
      storage.write({ prefix: "/things", path: "a" }, () => ({ apiVersion: "v1", kind: "Thing", metadata: {} })),
    );
  const state = async (): Promise<string> => {
    try {
      await clock.wait(Promise.resolve(check.check()));
      return "ok";
    } catch (error) {
      return String(error);
    }
  };
  return { clock, disk, storage, write, state };
}

test("the check fails with the write that failed last, and recovers with the first that succeeds", async () => {
  const { disk, write, state } = world();
  expect(await state()).toBe("ok");
  disk.isFull = true;
  await expect(write()).rejects.toThrow("could not be made durable");
  expect(await state()).toBe("Error: database or disk is full");
  disk.isFull = false;
  await write();
  expect(await state()).toBe("ok");
});

test("while nobody writes the check tries a write itself, at most once a second however often it is asked", async () => {
  const { clock, disk, storage, write, state } = world();
  disk.isFull = true;
  await expect(write()).rejects.toThrow("could not be made durable");
  for (let i = 0; i < 20; i++) await state();
  expect(disk.commits).toBe(2);
  disk.isFull = false;
  await clock.run(1_000);
  expect(await state()).toBe("ok");
  await clock.run(60_000);
  await state();
  expect(disk.commits).toBe(3);
  expect(storage.writeFailure).toBeUndefined();
});

test("a watcher that throws keeps neither the write from its writer nor the event from other watchers", async () => {
  const { storage, write } = world();
  const seen: number[] = [];
  storage.watch("/things", 1, () => {
    throw new Error("this watcher is broken");
  });
  storage.watch("/things", 1, ({ revision }) => seen.push(revision));
  await write();
  await write();
  expect(seen).toHaveLength(2);
});
