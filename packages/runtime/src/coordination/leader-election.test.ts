import { controller, startManager, type Manager } from "@setpoint/runtime";
import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { Candy, Fleet, isLeaseRequest, isWrite, type Arrival, type FleetProcess } from "../manager/fleet.fixture.ts";

const leaderElection = { name: "candies", namespace: "default" };

interface Replica {
  readonly process: FleetProcess;
  readonly manager: Manager;
}

function start(fleet: Fleet, name: string, runMs = 0, rate = 1): Replica {
  const process = fleet.process(name, rate);
  const { transport, host } = process;
  const candies = controller(Candy, {
    reconcile: async (candy, { status, host: { clock }, requeueAfter }) => {
      await sleep(clock, runMs);
      await status({ by: name, turn: (candy.status?.turn ?? 0) + 1 });
      return requeueAfter(1_000, "the next turn");
    },
  });
  const manager = startManager({
    transport,
    host,
    controllers: [candies],
    leaderElection: { ...leaderElection, identity: name },
  });
  return { process, manager };
}

async function withCandy(fleet: Fleet): Promise<void> {
  await fleet.wait(fleet.client.create(Candy, Candy({ name: "lolly", namespace: "default", spec: { flavors: [] } })));
}

/** Who wrote to candies, in the order of arrival; neighbours once. */
function audit(fleet: Fleet): string[] {
  const writers: string[] = [];
  fleet.onArrival = ({ process, request }: Arrival) => {
    if (isWrite(request) && !isLeaseRequest(request) && writers.at(-1) !== process.name) writers.push(process.name);
  };
  return writers;
}

test.each([0.9, 1, 1.1])(
  "a leader that was paused for ten leases writes nothing afterwards (its clock at %f)",
  async (rate) => {
    await using fleet = new Fleet(1);
    await withCandy(fleet);
    const writers = audit(fleet);
    const old = start(fleet, "old", 500, rate);
    await fleet.run(10_000);
    const next = start(fleet, "new", 0, 2 - rate);
    await fleet.run(10_000);
    expect(writers).toEqual(["old"]);
    old.process.pause(150_000);
    await fleet.run(200_000);
    expect(writers).toEqual(["old", "new"]);
    expect(next.manager.isLeader()).toBe(true);
    await expect(old.manager.done).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  },
);

test("a run that has begun as leader cannot write when the lease is lost in its middle", async () => {
  await using fleet = new Fleet(2);
  await withCandy(fleet);
  const writers = audit(fleet);
  const old = start(fleet, "old", 120_000);
  await fleet.run(10_000);
  start(fleet, "new");
  // Its requests are lost from here on; its runs go on.
  old.process.latencyMs = () => 3_600_000;
  await fleet.run(60_000);
  old.process.latencyMs = () => 0;
  await fleet.run(120_000);
  expect(writers).toEqual(["new"]);
});

test("a server that needs four seconds for each answer costs nobody the lease", async () => {
  await using fleet = new Fleet(3);
  await withCandy(fleet);
  const leader = start(fleet, "leader");
  const standby = start(fleet, "standby");
  await fleet.run(10_000);
  for (const { process } of [leader, standby]) process.latencyMs = () => 2_000;
  const transitions: string[] = [];
  for (let minute = 0; minute < 30; minute++) {
    await fleet.run(60_000);
    const led = [leader, standby].filter(({ manager }) => manager.isLeader()).map(({ process }) => process.name);
    if (led.join() !== transitions.at(-1)) transitions.push(led.join());
  }
  expect(transitions).toEqual(["leader"]);
});

test("a pause shorter than the renew deadline changes nothing", async () => {
  await using fleet = new Fleet(4);
  await withCandy(fleet);
  const leader = start(fleet, "leader");
  const standby = start(fleet, "standby");
  await fleet.run(10_000);
  for (let i = 0; i < 10; i++) {
    leader.process.pause(7_000);
    await fleet.run(20_000);
    expect([leader.manager.isLeader(), standby.manager.isLeader()]).toEqual([true, false]);
  }
});

test("a standby takes over within a retry period, from full caches and without a list", async () => {
  await using fleet = new Fleet(5);
  await withCandy(fleet);
  const old = start(fleet, "old");
  await fleet.run(5_000);
  const next = start(fleet, "new");
  await fleet.run(60_000);
  expect(next.manager.readyz().ok).toBe(true);
  const lists: string[] = [];
  let [tookOverMs, stoppedMs] = [0, 0];
  fleet.onArrival = ({ process, request, atMs }) => {
    if (process !== next.process) return;
    const isList = request.method === "GET" && !isLeaseRequest(request);
    if (isList) lists.push(request.path);
    if (tookOverMs === 0 && isWrite(request) && !isLeaseRequest(request)) tookOverMs = atMs;
  };
  await fleet.wait(old.manager.stop());
  stoppedMs = fleet.host.clock.monotonic();
  await fleet.run(10_000);
  // The default period is two seconds, with a fifth of jitter.
  expect(tookOverMs - stoppedMs).toBeGreaterThan(0);
  expect(tookOverMs - stoppedMs).toBeLessThan(2_500);
  expect(lists).toEqual([]);
});

test("a write checks the lease itself: not even a loop that was blocked lets one through", async () => {
  await using fleet = new Fleet(6);
  await withCandy(fleet);
  const leader = start(fleet, "leader");
  await fleet.run(10_000);
  const { client } = leader.manager;
  const { process } = leader;
  const sent: string[] = [];
  fleet.onArrival = ({ request }) => void (isWrite(request) && sent.push(request.path));
  // Time passes and nothing of the process has run: no timer, no renewal.
  process.pause(11_000);
  await fleet.run(10_500);
  const attempt = client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["salt"] } });
  await expect(attempt).rejects.toMatchObject({ code: "ERR_NOT_LEADER" });
  expect(sent.filter((path) => path.includes("candies"))).toEqual([]);
});

test.each([-86_400_000, 86_400_000])(
  "a wall clock that jumps by %i ms decides nothing about who leads",
  async (jumpMs) => {
    await using fleet = new Fleet(7);
    await withCandy(fleet);
    const writers = audit(fleet);
    const [leader, standby] = [start(fleet, "leader"), start(fleet, "standby")];
    await fleet.run(10_000);
    for (const { process } of [leader, standby, standby]) {
      process.jump(jumpMs);
      await fleet.run(60_000);
      expect([leader.manager.isLeader(), standby.manager.isLeader()]).toEqual([true, false]);
    }
    expect(writers).toEqual(["leader"]);
  },
);

test("a leader whose run is cut short by its stop lets the lease run out: its last write comes before its successor's", async () => {
  await using fleet = new Fleet(8);
  await withCandy(fleet);
  const writers = audit(fleet);
  const old = start(fleet, "old");
  await fleet.run(10_000);
  const next = start(fleet, "new");
  await fleet.run(2_000);
  // What it writes arrives long after it has stopped.
  old.process.latencyMs = (request) => (isWrite(request) && !isLeaseRequest(request) ? 17_000 : 0);
  await fleet.run(2_000);
  await fleet.wait(old.manager.stop());
  await fleet.run(40_000);
  expect(next.manager.isLeader()).toBe(true);
  expect(writers).toEqual(["old", "new"]);
});

test("two processes that were given the same identity do not both lead", async () => {
  await using fleet = new Fleet(9);
  await withCandy(fleet);
  const replicas = [start(fleet, "same"), start(fleet, "same")];
  for (let second = 0; second < 60; second++) {
    await fleet.run(1_000);
    expect(replicas.filter(({ manager }) => manager.isLeader()).length).toBeLessThanOrEqual(1);
  }
  expect(replicas.filter(({ manager }) => manager.isLeader()).length).toBe(1);
});

test("a process that was paused between an effect's intent and the effect leaves it to its successor", async () => {
  await using fleet = new Fleet(10);
  await withCandy(fleet);
  const done: string[] = [];
  const begin = (name: string): FleetProcess => {
    const process = fleet.process(name);
    const { transport, host } = process;
    const ordering = controller(Candy, {
      ledger: true,
      async reconcile(_candy, { effect }) {
        await effect("order", {
          find: async () => done[0],
          async do() {
            done.push(name);
            return name;
          },
        });
      },
    });
    startManager({ transport, host, controllers: [ordering], leaderElection: { ...leaderElection, identity: name } });
    return process;
  };
  const old = begin("old");
  fleet.onArrival = ({ process, request }) => {
    if (process === old && isWrite(request) && !isLeaseRequest(request)) old.pause(60_000);
  };
  await fleet.run(10_000);
  begin("new");
  await fleet.run(120_000);
  expect(done).toEqual(["new"]);
});
