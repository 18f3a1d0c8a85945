import { controller, startManager, type HealthReport } from "@setpoint/runtime";
import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { Candy, Fleet, isLeaseRequest } from "./fleet.fixture.ts";

const candy = (name: string): Candy => Candy({ name, namespace: "default", spec: { flavors: [] } });
const ill = ({ checks }: HealthReport): readonly string[] =>
  checks.filter(({ ok }) => !ok).map(({ name, message }) => `${name}: ${message}`);

const quick = controller(Candy, { reconcile: (_, { awaitChange }) => Promise.resolve(awaitChange()) });
const slow = (runMs: number) =>
  controller(Candy, {
    concurrency: 1,
    reconcile: async (_, { host: { clock }, awaitChange }) => {
      await sleep(clock, runMs);
      return awaitChange();
    },
  });

test("a process is ready when its caches are complete, and says by kind what is missing", async () => {
  await using fleet = new Fleet(1);
  const process = fleet.process("operator");
  process.latencyMs = () => 5_000;
  const { transport, host } = process;
  const manager = startManager({ transport, host, controllers: [quick] });
  await fleet.run(1_000);
  expect(manager.healthz().ok).toBe(true);
  expect(ill(manager.readyz())).toEqual(["cache candies.example.com: the first list is not complete"]);
  await fleet.run(30_000);
  expect(manager.readyz().ok).toBe(true);
});

test("a watch that has fallen silent turns the process unhealthy, by its kind", async () => {
  await using fleet = new Fleet(2);
  const process = fleet.process("operator");
  const { transport, host } = process;
  const manager = startManager({ transport, host, controllers: [quick] });
  await fleet.run(60_000);
  expect(manager.healthz().ok).toBe(true);
  // From here on nothing is heard of the server any more, and no connection breaks.
  process.latencyMs = () => 36_000_000;
  process.muteWatches();
  await fleet.run(390_000);
  expect(manager.healthz().ok).toBe(true);
  await fleet.run(90_000);
  expect(ill(manager.healthz())).toEqual([
    expect.stringMatching(/^watch candies\.example\.com: last heard 4\d\d s ago$/),
  ]);
});

test("a run that does not end turns the process unhealthy after its limit, and says which", async () => {
  await using fleet = new Fleet(3);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const { transport, host } = fleet.process("operator");
  const health = { reconcileMsMax: 120_000 };
  const manager = startManager({ transport, host, controllers: [slow(10_000_000)], health });
  await fleet.run(100_000);
  expect(manager.healthz().ok).toBe(true);
  await fleet.run(50_000);
  expect(ill(manager.healthz())).toEqual(['reconcile candy: Candy "default/lolly" runs for 150 s, longer than 120 s']);
});

test("keys that wait for too long make the process unready, but not unhealthy: a restart would not help", async () => {
  await using fleet = new Fleet(4);
  for (const name of ["a", "b", "c"]) await fleet.wait(fleet.client.create(Candy, candy(name)));
  const { transport, host } = fleet.process("operator");
  const manager = startManager({ transport, host, controllers: [slow(200_000)], health: { queueAgeMsMax: 300_000 } });
  await fleet.run(310_000);
  expect(manager.healthz().ok).toBe(true);
  expect(ill(manager.readyz())).toEqual(["queue candy: 1 keys, the oldest waits for 310 s, longer than 300 s"]);
  await fleet.run(120_000);
  expect(manager.readyz().ok).toBe(true);
});

test("a standby is well: it says who leads, and its waiting keys are not late", async () => {
  await using fleet = new Fleet(5);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const [leader, standby] = ["a", "b"].map((identity) => {
    const { transport, host } = fleet.process(identity);
    const leaderElection = { name: "candies", namespace: "default", identity };
    return startManager({ transport, host, controllers: [quick], leaderElection });
  });
  await fleet.run(3_600_000);
  const report = standby?.readyz();
  expect(report?.ok).toBe(true);
  const message: unknown = expect.stringMatching(/^standing by; "a_\w{8}" leads$/);
  expect(report?.checks).toContainEqual({ name: "lease", ok: true, message });
  expect(leader?.readyz().checks).toContainEqual(
    expect.objectContaining({ message: expect.stringMatching(/^leading, for \d+ s/) }),
  );
});

test("stopping goes in order: running keys end, events are written, then the lease is free, then the watches close", async () => {
  await using fleet = new Fleet(6);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const process = fleet.process("operator");
  const { transport, host } = process;
  const log: string[] = [];
  const speaks = controller(Candy, {
    reconcile: async (_, { host: { clock }, event, status, awaitChange }) => {
      await sleep(clock, 4_000);
      await status({ turn: 1 });
      log.push("the run ended");
      event("Normal", "Wrapped", "all of it is wrapped");
      return awaitChange();
    },
  });
  const leaderElection = { name: "candies", namespace: "default", identity: "a" };
  const manager = startManager({ transport, host, controllers: [speaks], leaderElection });
  await fleet.run(1_000);
  fleet.onArrival = ({ request }) => {
    const { spec } = (request.body ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
    if (isLeaseRequest(request) && spec?.holderIdentity === "") log.push("the lease is free");
    if (request.path.includes("/events")) log.push("the event is written");
  };
  process.onWatchEnd = () => log.push("a watch closed");
  const stopped = manager.stop().then(() => log.push("stopped"));
  await fleet.wait(fleet.client.create(Candy, candy("late")));
  await fleet.wait(stopped);
  expect(log).toEqual(["the run ended", "the event is written", "the lease is free", "a watch closed", "stopped"]);
});
