import { expect, test } from "vitest";
import { sleep } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";

test("VirtualClock lets time pass only in run()", async () => {
  const clock = new VirtualClock(seededRandom(1));
  let woken = -1;
  void sleep(clock, 5_000).then(() => (woken = clock.monotonic()));
  await clock.settle();
  expect(woken).toBe(-1);
  await clock.run(10_000);
  expect(woken).toBe(5_000);
  expect(clock.monotonic()).toBe(10_000);
});

test("VirtualClock.run() stops as soon as it is done", async () => {
  const clock = new VirtualClock(seededRandom(1));
  let done = false;
  clock.setTimer(() => (done = true), 50);
  expect(await clock.run(1_000, () => done)).toBe(true);
  expect(clock.monotonic()).toBe(50);
});

test("VirtualClock.wait() lets time pass until a promise is settled, and no longer", async () => {
  const clock = new VirtualClock(seededRandom(1));
  const slow = sleep(clock, 5_000);
  expect(await clock.wait(slow.then(() => "done"))).toBe("done");
  expect(clock.monotonic()).toBe(5_000);
  const broken = sleep(clock, 1_000).then(() => Promise.reject(new Error("the bank is closed")));
  await expect(clock.wait(broken)).rejects.toThrow("the bank is closed");
  await expect(clock.wait(Promise.withResolvers<never>().promise, 3_000)).rejects.toThrow(
    "Cannot wait any longer: the promise is still pending after 3 s of virtual time",
  );
  expect(clock.monotonic()).toBe(9_000);
});

test("equal seeds order simultaneous timers equally, other seeds differently", async () => {
  const order = async (seed: number): Promise<string> => {
    const clock = new VirtualClock(seededRandom(seed));
    let seen = "";
    for (const name of "abcdefgh") clock.setTimer(() => (seen += name), 10);
    await clock.run(20);
    return seen;
  };
  expect(await order(7)).toBe(await order(7));
  expect(await order(7)).not.toBe(await order(8));
});
