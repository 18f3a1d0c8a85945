import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Watchdog } from "./watchdog.ts";

function start() {
  const { clock } = simulatedHost(1);
  const barksMs: number[] = [];
  const create = (): Watchdog => new Watchdog(clock, 100, () => void barksMs.push(clock.monotonic()));
  return { clock, barksMs, create };
}

test("a silence of the whole time is reported once, at its end", async () => {
  const { clock, barksMs, create } = start();
  await clock.run(1_000);
  create();
  await clock.run(99);
  expect(barksMs).toEqual([]);
  await clock.run(1_000);
  expect(barksMs).toEqual([1_100]);
});

test("the time counts from the last word, to the millisecond", async () => {
  const { clock, barksMs, create } = start();
  await clock.run(1_000);
  const watchdog = create();
  for (let i = 0; i < 10; i++) {
    await clock.run(70);
    watchdog.reset();
  }
  await clock.run(99);
  expect(barksMs).toEqual([]);
  await clock.run(500);
  expect(barksMs).toEqual([1_800]);
});

test("a stopped watchdog tells nothing, also when it has been reset before", async () => {
  const { clock, barksMs, create } = start();
  const [fresh, reset] = [create(), create()];
  await clock.run(50);
  reset.reset();
  fresh.stop();
  await clock.run(60);
  reset.stop();
  await clock.run(1_000);
  expect(barksMs).toEqual([]);
});
