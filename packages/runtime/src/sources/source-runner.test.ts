import { createKind, type NamespacedName } from "@setpoint/apimachinery";
import { createMetrics } from "@setpoint/host/system";
import { simulatedHost } from "@setpoint/host/simulated";
import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { cron } from "./cron.ts";
import { every } from "./every.ts";
import { fromIterable } from "./from-iterable.ts";
import { pushSource } from "./push-source.ts";
import { SourceRunner } from "./source-runner.ts";
import type { Source } from "../controller/source.ts";

const Box = createKind({ group: "example.com", version: "v1", kind: "Box", plural: "boxes", namespaced: true });

function run(source: Source, isOurs: (key: NamespacedName) => boolean = () => true) {
  const metrics = createMetrics();
  const host = { ...simulatedHost(1), metrics };
  const woken: { readonly key: NamespacedName; readonly atMs: number; readonly priority: string | undefined }[] = [];
  const boxes = ["a", "b"].map((name) => ({ ...Box({ name, namespace: "n" }), metadata: { name, namespace: "n" } }));
  const cache = { get: () => undefined, list: () => boxes as never };
  const runner = new SourceRunner(source, {
    ...{ controller: "box", kind: Box, cache, host, log: host.log },
    wake: (key, priority) => woken.push({ key, priority, atMs: host.clock.monotonic() }) > 0 && isOurs(key),
  });
  const names = (): readonly string[] => woken.map(({ key }) => key.name);
  const stop = async (): Promise<void> => {
    const stopped = runner.stop();
    let isStopped = false;
    void stopped.then(() => (isStopped = true));
    await host.clock.run(60_000, () => isStopped);
    return stopped;
  };
  return { host, metrics, runner, woken, names, stop };
}

test("every() wakes all objects at its pace, without drift and less urgently than changes", async () => {
  const { host, runner, woken, stop } = run(every(1_000));
  runner.start();
  await host.clock.run(3_500);
  expect(woken.map(({ key, atMs }) => `${key.namespace}/${key.name} ${atMs}`)).toEqual([
    ...["n/a 1000", "n/b 1000", "n/a 2000", "n/b 2000", "n/a 3000", "n/b 3000"],
  ]);
  expect(new Set(woken.map(({ priority }) => priority))).toEqual(new Set(["low"]));
  await stop();
  await host.clock.run(10_000);
  expect(woken.length).toBe(6);
});

test("every() wakes only what its function names", async () => {
  const { host, runner, names, stop } = run(every(1_000, () => [{ name: "only" }]));
  runner.start();
  await host.clock.run(1_000);
  expect(names()).toEqual(["only"]);
  await stop();
});

test("a tick and a moment whose function throws are made up for as soon as it does not, and the pace stays", async () => {
  const hourMs = 3_600_000;
  let failures = 0;
  const unlessFailing = (): readonly NamespacedName[] => {
    if (failures-- > 0) throw new Error("the list cannot be read");
    return [{ name: "only" }];
  };
  for (const source of [every(hourMs, unlessFailing), cron("0 * * * *", {}, unlessFailing)]) {
    const { host, runner, woken, stop } = run(source);
    runner.start();
    await host.clock.run(hourMs + 1);
    failures = 2;
    await host.clock.run(3 * hourMs);
    const [first, second, third] = woken.map(({ atMs }) => atMs);
    expect(first).toBe(hourMs);
    expect(second).toBeGreaterThan(2 * hourMs);
    expect(second).toBeLessThan(2 * hourMs + 5_000);
    expect(third).toBeCloseTo(3 * hourMs);
    await stop();
  }
});

test("a pace of zero is refused", () => {
  expect(() => every(0)).toThrow("Cannot use every(): interval is 0; expected milliseconds");
  expect(() => every(Number.NaN)).toThrow("interval is NaN");
});

test("an iterable that throws or ends is opened again, ever more slowly, and health says so meanwhile", async () => {
  const opened: number[] = [];
  let host: ReturnType<typeof run>["host"] | undefined;
  const source = fromIterable<string>(
    async function* open(signal) {
      if (host === undefined) return;
      opened.push(host.clock.monotonic());
      if (opened.length <= 3) throw new Error(`broker is down (${opened.length})`);
      yield "first";
      await sleep(host.clock, 1_000_000, signal);
    },
    (name) => [{ name }],
    { name: "broker" },
  );
  const world = run(source);
  ({ host } = world);
  world.runner.start();
  await host.clock.run(1);
  expect(world.runner.state).toEqual({
    name: "source broker of box",
    ok: false,
    message: "1 failures in a row, the last: broker is down (1)",
  });
  expect(world.metrics.expose()).toContain('setpoint_source_up{controller="box",source="broker"} 0');
  await host.clock.run(20_000);
  const gaps = opened.slice(1).map((atMs, i) => atMs - (opened[i] ?? 0));
  expect(gaps.length).toBe(3);
  expect(gaps[2]).toBeGreaterThan(gaps[0] ?? 0);
  expect(world.names()).toEqual(["first"]);
  expect(world.runner.state.ok).toBe(true);
  expect(world.metrics.expose()).toContain('setpoint_source_failures_total{controller="box",source="broker"} 3');
  expect(world.metrics.expose()).toContain('setpoint_source_up{controller="box",source="broker"} 1');
  await world.stop();
});

test("stopping ends an iterable politely: its generator's finally has run", async () => {
  let isClosed = false;
  let host: ReturnType<typeof run>["host"] | undefined;
  const world = run(
    fromIterable<string>(
      async function* open(signal) {
        try {
          yield "one";
          if (host !== undefined) await sleep(host.clock, 1_000_000, signal);
        } finally {
          isClosed = true;
        }
      },
      (name) => [{ name }],
    ),
  );
  ({ host } = world);
  world.runner.start();
  await host.clock.run(1);
  await world.stop();
  await host.clock.settle();
  expect(isClosed).toBe(true);
  expect(host.clock.monotonic()).toBe(1);
});

test("a source that does not look at its signal does not hold up the stop for ever", async () => {
  const world = run({ name: "deaf", run: () => new Promise(() => {}) });
  world.runner.start();
  await world.host.clock.run(1);
  await world.stop();
  expect(world.host.clock.monotonic()).toBe(5_001);
});

test("a source that ends by itself is a failure and not a silence", async () => {
  const world = run({ name: "brief", run: async () => {} });
  world.runner.start();
  await world.host.clock.run(1);
  expect(world.runner.state.message).toContain("the source ended without an error");
  await world.stop();
});

test("push() wakes urgently while the controller runs, and says when nobody listens", async () => {
  const hooks = pushSource();
  expect(hooks.push({ name: "early" })).toBe(false);
  const { host, runner, woken, stop } = run(hooks);
  runner.start();
  await host.clock.run(1);
  expect(hooks.push({ name: "x", namespace: "n" })).toBe(true);
  expect(woken).toEqual([{ key: { name: "x", namespace: "n" }, priority: "high", atMs: 1 }]);
  await stop();
  expect(hooks.push({ name: "late" })).toBe(false);
});

test("push() says that nobody was woken when the key is another member's", async () => {
  const hooks = pushSource();
  const { host, runner, stop } = run(hooks, ({ name }) => name === "ours");
  runner.start();
  await host.clock.run(1);
  expect(["ours", "theirs"].map((name) => hooks.push({ name }))).toEqual([true, false]);
  await stop();
});
