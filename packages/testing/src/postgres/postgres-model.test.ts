import { type SimulatedHost, simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { Program, SimulatedVolume } from "../program-model.ts";
import { PostgresModel } from "./postgres-model.ts";

class Bench {
  readonly host: SimulatedHost = simulatedHost(1);
  readonly model = new PostgresModel();
  readonly #volumes = new Map<string, SimulatedVolume>();
  readonly #programs = new Map<number, Program>();

  constructor() {
    this.model.attach(this.host);
  }

  /** Starts an instance on its volume; its address is its number. */
  start(number: number): string {
    const name = `orders-${number}`;
    const volume = this.#volumes.get(name) ?? { id: name, files: new Map() };
    this.#volumes.set(name, volume);
    const program = this.model.start({
      host: this.host,
      image: "postgres:16",
      command: [],
      environment: {},
      namespace: "default",
      podName: name,
      podIp: `10.0.0.${number}`,
      hostNames: [`${name}.orders.default.svc`],
      volumes: new Map([["/var/lib/postgresql/data", volume]]),
      exited: () => {},
      ready: () => {},
    });
    this.#programs.set(number, program);
    return `10.0.0.${number}:5432`;
  }

  kill(number: number): void {
    this.#programs.get(number)?.kill();
  }

  do<T>(promise: Promise<T>): Promise<T> {
    return this.host.clock.wait(promise);
  }

  async pair(): Promise<readonly [string, string]> {
    const [one, two] = [this.start(1), this.start(2)];
    await this.do(this.model.initialize(one));
    await this.do(this.model.clone(two, one));
    return [one, two];
  }

  async write(address: string, ...values: readonly string[]): Promise<void> {
    for (const value of values) await this.do(this.model.write(address, value));
  }
}

test("a replica gets what the primary writes, somewhat later", async () => {
  const bench = new Bench();
  const [one, two] = await bench.pair();
  await bench.write(one, "a", "b");
  await bench.host.clock.run(1_000);
  expect(await bench.do(bench.model.status(two))).toMatchObject({ role: "replica", lsn: 2, timeline: 1 });
  await expect(bench.do(bench.model.write(two, "c"))).rejects.toThrow("read-only transaction");
});

test("a failover loses what was acknowledged before a replica had it", async () => {
  const bench = new Bench();
  const [one, two] = await bench.pair();
  bench.model.instance("orders-2").network.fail("partitioned");
  await bench.write(one, "unseen");
  bench.kill(1);
  bench.model.instance("orders-2").network.heal();
  await bench.do(bench.model.promote(two));
  expect(bench.model.lost("orders")).toEqual(["unseen"]);
});

test("with a synchronous standby nothing acknowledged is lost, and without one nothing is acknowledged", async () => {
  const bench = new Bench();
  const [one, two] = await bench.pair();
  await bench.do(bench.model.setSynchronous(one, 1));
  await bench.write(one, "a");
  bench.model.instance("orders-2").network.fail("partitioned");
  let isAcknowledged = false;
  bench.model.write(one, "b").then(
    () => (isAcknowledged = true),
    () => {},
  );
  await bench.host.clock.run(30_000);
  expect(isAcknowledged).toBe(false);
  bench.kill(1);
  bench.model.instance("orders-2").network.heal();
  await bench.do(bench.model.promote(two));
  expect(bench.model.lost("orders")).toEqual([]);
});

test("an old primary that comes back takes writes again, which is a split brain unless it is fenced", async () => {
  const bench = new Bench();
  const [one, two] = await bench.pair();
  await bench.write(one, "a");
  bench.kill(1);
  await bench.do(bench.model.promote(two));
  await bench.write(two, "b");
  bench.start(1);
  expect(bench.model.primaries("orders").map(({ name }) => name)).toHaveLength(2);
  await bench.write(one, "c");
  expect(bench.model.violations).toEqual(["two primaries took writes: orders-1/1 after orders-2/2"]);
  await bench.do(bench.model.fence(one));
  await expect(bench.do(bench.model.write(one, "d"))).rejects.toThrow("read-only");
});

test("a primary that has diverged follows only after it is rewound", async () => {
  const bench = new Bench();
  const [one, two] = await bench.pair();
  bench.model.instance("orders-2").network.fail("partitioned");
  await bench.write(one, "only here");
  bench.kill(1);
  bench.model.instance("orders-2").network.heal();
  await bench.do(bench.model.promote(two));
  await bench.write(two, "b");
  bench.start(1);
  await bench.do(bench.model.follow(one, two));
  await bench.host.clock.run(5_000);
  expect(await bench.do(bench.model.status(one))).toMatchObject({ diverged: true, lsn: 1 });
  await bench.do(bench.model.rewind(one, two));
  await bench.host.clock.run(5_000);
  expect(await bench.do(bench.model.status(one))).toMatchObject({ diverged: false, lsn: 1, timeline: 2 });
});

test("a hung instance answers nobody, a slow one late, a dead one refuses", async () => {
  const bench = new Bench();
  const [one] = await bench.pair();
  const { network } = bench.model.instance("orders-1");
  network.fail("hung");
  await expect(bench.do(bench.model.status(one))).rejects.toThrow("ETIMEDOUT");
  network.heal();
  network.slow(3_000);
  const beforeMs = bench.host.clock.monotonic();
  await bench.do(bench.model.status(one));
  expect(bench.host.clock.monotonic() - beforeMs).toBeGreaterThanOrEqual(3_000);
  bench.kill(1);
  await expect(bench.do(bench.model.status(one))).rejects.toThrow("ECONNREFUSED");
});

test("to initialise an instance whose disk was lost is a second database", async () => {
  const bench = new Bench();
  const [one] = await bench.pair();
  await bench.write(one, "a");
  bench.model.instance("orders-1").loseDisk();
  bench.start(1);
  await bench.do(bench.model.initialize(one));
  expect(bench.model.violations[0]).toMatch(/^orders-1 was initialised: a second database/);
});
