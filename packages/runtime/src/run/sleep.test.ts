/** `host.sleep` of a reconcile and `sleep` of a daemon end with the signal. */
import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { Candy, candy, createControllerWorld } from "./controller-world.fixture.ts";

test("a sleep takes its time, and the stop of the manager ends one that lasts", async () => {
  await using world = createControllerWorld();
  const woken: (number | string)[] = [];
  const sleeping = controller(Candy, {
    async reconcile(_candy, { host: { sleep, clock } }) {
      await sleep(3_000);
      woken.push(clock.monotonic());
      await sleep(3_600_000).catch((error: unknown) => woken.push(String(error)));
    },
  });
  const manager = world.start([sleeping], { shutdownMsMax: 1_000 });
  const startedMs = world.host.clock.monotonic();
  await world.client.create(Candy, candy("mint"));
  await world.run(10_000);
  expect(woken).toEqual([startedMs + 3_000]);
  await world.wait(manager.stop());
  expect(woken[1]).toMatch(/stop/);
  expect(world.host.clock.monotonic() - startedMs).toBeLessThan(20_000);
});

test("a sleep that loses a race neither holds the run up nor fails anything when the run is aborted later", async () => {
  await using world = createControllerWorld();
  let runs = 0;
  const racing = controller(Candy, {
    async reconcile(_candy, { host: { sleep } }) {
      runs++;
      await Promise.race([sleep(60_000), sleep(1)]);
    },
  });
  const manager = world.start([racing]);
  await world.client.create(Candy, candy("mint"));
  await world.settle(manager);
  expect(runs).toBe(1);
  await world.wait(manager.stop());
  expect(world.host.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a sleep of NaN is refused, and a daemon has a sleep too", async () => {
  await using world = createControllerWorld();
  const seen: string[] = [];
  const daemonic = controller(Candy, {
    reconcile: async (_candy, { host: { sleep } }) =>
      sleep(Number.NaN).catch((error: unknown) => void seen.push(String(error))),
    daemons: {
      async naps(_candy, { sleep }) {
        await sleep(3_600_000).catch(() => seen.push("woken"));
      },
    },
  });
  const manager = world.start([daemonic]);
  await world.client.create(Candy, candy("mint"));
  await world.settle(manager);
  expect(seen).toEqual(["SetpointError: Cannot sleep: the delay is NaN; expected milliseconds (seconds(3))"]);
  await world.client.delete(Candy, { name: "lolly", namespace: "default" });
  await world.run(1_000);
  expect(seen[1]).toBe("woken");
});
