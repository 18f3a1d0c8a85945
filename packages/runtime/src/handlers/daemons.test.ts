import { sleep } from "@setpoint/host";
import { controller, TemporaryError, TerminalError, timer, type ControllerOptions } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, type ControllerWorld } from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };
const pause = (world: ControllerWorld, value: string | null) =>
  world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/paused": value } } });

/** A daemon that records when it starts and when its signal aborts. */
function noting(world: ControllerWorld, options: Partial<ControllerOptions<Candy>> = {}) {
  const notes: string[] = [];
  const definition = controller(Candy, {
    daemons: {
      async watcher({ metadata }, { signal, clock }) {
        notes.push(`start ${metadata.name}`);
        await sleep(clock, 10_000_000, signal).catch(() => {});
        notes.push(`stop ${metadata.name}`);
      },
    },
    reconcile: async () => {},
    cleanup: async () => void notes.push("cleanup"),
    ...options,
  });
  return { notes, start: () => world.start([definition]) };
}

test("a daemon begins with its object, runs once beside it, and has ended before the cleanup", async () => {
  await using world = createControllerWorld();
  const { notes, start } = noting(world);
  const manager = start();
  await world.client.create(Candy, candy("mint"));
  await world.run(1_000);
  await world.client.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await world.run(1_000);
  expect(notes).toEqual(["start lolly"]);
  expect(manager.metrics()).toContain('setpoint_daemon_objects{controller="candy"} 1');
  await world.client.delete(Candy, key);
  await world.run(1_000);
  expect(notes).toEqual(["start lolly", "stop lolly", "cleanup"]);
  expect(manager.metrics()).toContain('setpoint_daemon_objects{controller="candy"} 0');
});

test("a namesake has a daemon of its own, which begins after the old one has ended", async () => {
  await using world = createControllerWorld();
  const order: string[] = [];
  world.start([
    controller(Candy, {
      daemons: {
        async slow(object, { signal, clock }) {
          order.push(`start ${object.spec.flavors.join()}`);
          await sleep(clock, 10_000_000, signal).catch(() => {});
          await sleep(clock, 3_000);
          order.push(`end ${object.spec.flavors.join()}`);
        },
      },
      reconcile: async () => {},
    }),
  ]);
  await world.client.create(Candy, candy("mint"));
  await world.run(1_000);
  await world.client.delete(Candy, key);
  await world.client.create(Candy, candy("lime"));
  await world.run(60_000);
  expect(order).toEqual(["start mint", "end mint", "start lime"]);
});

test("daemons end when the manager stops and when the object is paused, and begin again", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { notes, start } = noting(world);
  const manager = start();
  await world.run(1_000);
  await pause(world, "true");
  await world.run(1_000);
  expect(notes).toEqual(["start lolly", "stop lolly"]);
  await pause(world, null);
  await world.run(1_000);
  expect(notes.at(-1)).toBe("start lolly");
  await world.wait(manager.stop());
  expect(notes.at(-1)).toBe("stop lolly");
});

test("a daemon that does not listen is given up after its time, and holds up neither cleanup nor stop for ever", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const notes: string[] = [];
  world.start([
    controller(Candy, {
      daemons: { deaf: () => new Promise(() => {}) },
      reconcile: async () => {},
      cleanup: async () => void notes.push("cleanup"),
    }),
  ]);
  await world.run(1_000);
  await world.client.delete(Candy, key);
  await world.run(9_000);
  expect(notes).toEqual([]);
  await world.run(2_000);
  expect(notes).toEqual(["cleanup"]);
  expect(world.host.lines.some(({ message }) => message === "Daemon did not stop in time")).toBe(true);
});

test("a daemon that throws begins again: with back-off, after its own delay, or never", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const starts: Record<string, number[]> = { plain: [], temporary: [], terminal: [] };
  const failing = (name: string, error: Error) => async (): Promise<void> => {
    starts[name]?.push(world.host.clock.monotonic());
    throw error;
  };
  world.start([
    controller(Candy, {
      daemons: {
        plain: failing("plain", new Error("oops")),
        temporary: failing("temporary", new TemporaryError("closed", 10_000)),
        terminal: failing("terminal", new TerminalError("never")),
      },
      reconcile: async () => {},
    }),
  ]);
  await world.run(35_000);
  const gaps = (times: readonly number[] = []): readonly number[] =>
    times.slice(1).map((at, i) => at - (times[i] ?? 0));
  const plain = gaps(starts["plain"]);
  expect(plain.length).toBeGreaterThanOrEqual(4);
  expect(plain.at(-1)).toBeGreaterThan((plain[0] ?? 0) * 3);
  expect(gaps(starts["temporary"])).toEqual([10_000, 10_000, 10_000]);
  expect(starts["terminal"]?.length).toBe(1);
});

test("a timer sees the object as it is then, and can wake its reconcile", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  let runs = 0;
  world.start([
    controller(Candy, {
      daemons: {
        look: timer(10_000, async ({ spec }, { wake }) => {
          seen.push(spec.flavors.join());
          if (seen.length === 2) wake();
        }),
      },
      reconcile: async () => void runs++,
    }),
  ]);
  await world.run(15_000);
  expect(runs).toBe(1);
  await world.client.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await world.run(10_000);
  expect(seen).toEqual(["mint", "lime"]);
  expect(runs).toBe(3);
});

test("a daemon that fails now and then is started again as soon as at the first time", async () => {
  await using world = createControllerWorld();
  const failedMs: number[] = [];
  const restMs: number[] = [];
  const { start } = noting(world, {
    daemons: {
      async seldom(_object, { clock, signal }) {
        const [failed] = failedMs.slice(-1);
        if (failed !== undefined) restMs.push(clock.monotonic() - failed);
        await sleep(clock, 3_600_000, signal);
        failedMs.push(clock.monotonic());
        throw new Error("the line was cut");
      },
    },
  });
  start();
  await world.client.create(Candy, candy("mint"));
  await world.run(12 * 3_700_000);
  expect(restMs.length).toBeGreaterThan(10);
  expect(Math.max(...restMs)).toBeLessThanOrEqual(1_000);
});
