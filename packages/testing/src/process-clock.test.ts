import { sleep } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { ProcessClock } from "./process-clock.ts";

function clocks(skew = {}): { readonly world: VirtualClock; readonly clock: ProcessClock } {
  const world = new VirtualClock(seededRandom(1));
  return { world, clock: new ProcessClock(world, skew) };
}

test("a clock that gains a tenth fires early and shows more time", async () => {
  const { world, clock } = clocks({ rate: 1.1, offsetMs: 5_000 });
  let firedMs = -1;
  void sleep(clock, 11_000).then(() => (firedMs = world.monotonic()));
  await world.run(20_000);
  expect(firedMs).toBeCloseTo(10_000);
  expect(clock.monotonic()).toBeCloseTo(22_000);
  expect(clock.now() - world.now()).toBe(5_000 + 2_000);
});

test("a clock that is set moves no timer and no duration", async () => {
  const { world, clock } = clocks();
  let firedMs = -1;
  void sleep(clock, 1_000).then(() => (firedMs = clock.monotonic()));
  clock.jump(-3_600_000);
  await world.run(2_000);
  expect(firedMs).toBe(1_000);
  expect(clock.now()).toBe(world.now() - 3_600_000);
});

test("a paused process does what was due when it is resumed, not before", async () => {
  const { world, clock } = clocks();
  const fired: number[] = [];
  for (const delayMs of [1_000, 2_000, 30_000]) void sleep(clock, delayMs).then(() => fired.push(clock.monotonic()));
  clock.pause();
  await world.run(20_000);
  expect(fired).toEqual([]);
  clock.resume();
  await world.run(20_000);
  expect(fired).toEqual([20_000, 20_000, 30_000]);
});

test("a timer that is cancelled while its process is paused never fires", async () => {
  const { world, clock } = clocks();
  let isFired = false;
  const timer = clock.setTimer(() => (isFired = true), 1_000);
  clock.pause();
  await world.run(2_000);
  timer.cancel();
  clock.resume();
  await world.run(2_000);
  expect(isFired).toBe(false);
});

test("with a process its timers end, those that waited too", async () => {
  const { world, clock } = clocks();
  let count = 0;
  clock.setTimer(() => count++, 1_000);
  clock.setTimer(() => count++, 5_000);
  clock.pause();
  await world.run(2_000);
  clock.stop();
  clock.resume();
  await world.run(10_000);
  expect(count).toBe(0);
});
