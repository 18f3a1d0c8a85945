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
    "Cannot wait for the promise: it is still pending after 3 s of virtual time",
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

test("everything that is ready is done before time goes on, however long its chain of promises", async () => {
  const clock = new VirtualClock(seededRandom(1));
  for (let round = 0; round < 100; round++) {
    let links = 0;
    void (async () => {
      for (; links < 1_000; links++) await Promise.resolve();
    })();
    await clock.settle();
    expect(links).toBe(1_000);
  }
});

test("two clocks go on at once, each in its own time", async () => {
  const clocks = [new VirtualClock(seededRandom(1)), new VirtualClock(seededRandom(2))];
  await Promise.all(
    clocks.map(async (clock) => {
      for (let i = 0; i < 100; i++) await clock.run(10);
    }),
  );
  expect(clocks.map((clock) => clock.monotonic())).toEqual([1_000, 1_000]);
});

test("a clock that runs on and on leaves the event loop its turns: a host's own timers fire", async () => {
  const clock = new VirtualClock(seededRandom(1));
  let hasFired = false;
  setTimeout(() => (hasFired = true), 1);
  for (let turns = 0; turns < 1_000_000 && !hasFired; turns++) await clock.settle();
  expect(hasFired).toBe(true);
});
