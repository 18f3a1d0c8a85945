/**
 * The life of a cluster in the simulated world. Every scenario runs twice from its seed, and both runs must
 * be the same.
 */
import { minutes } from "setpoint";
import { PersistentVolumeClaim, Pod, Secret } from "setpoint/kinds";
import type { World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { labels } from "./kind/labels.ts";
import { PostgresCluster } from "./kind/postgres-cluster.ts";
import {
  begin,
  expectHealthy,
  nodeOf,
  orders,
  primaryName,
  quiet,
  scenario,
  setUp,
  type Stage,
  synchronous,
} from "./testing/postgres-stage.ts";

describe("a cluster", () => {
  test(
    "of three instances starts",
    scenario(1, async (stage) => {
      await begin(stage);
      await expectHealthy(stage);
      await quiet(stage);
    }),
  );

  test.each([
    { replication: "synchronous", spec: synchronous },
    { replication: "asynchronous", spec: {} },
  ])("with $replication replication promotes a replica when its primary dies", async ({ spec }) =>
    scenario(2, async (stage) => {
      const { world, postgres } = stage;
      const writer = await begin(stage, spec);
      await world.run(3_000);
      const before = await primaryName(stage);
      world.kill(before);
      await world.settled();
      const after = await primaryName(stage);
      expect(after).not.toBe(before);
      await expectHealthy(stage);
      expect((await orders(stage)).status?.lastFailover).toMatchObject({ from: before, to: after });
      expect(writer.longestGapMs).toBeLessThan(6_000);
      expect(postgres.server(after).data.timeline).toBe(2);
      expect(postgres.ledger.losses).toEqual([]);
      expect(postgres.ledger.acknowledged.length).toBeGreaterThan(50);
      await quiet(stage);
    })(),
  );

  test(
    "hands over on request and loses nothing",
    scenario(3, async (stage) => {
      const { world, postgres } = stage;
      const writer = await begin(stage);
      await world.run(3_000);
      await world.patch(PostgresCluster, "orders", { metadata: { annotations: { [labels.switchover]: "orders-3" } } });
      await world.until("orders-3 is the primary", () => postgres.primary()?.name === "orders-3");
      await world.settled();
      await expectHealthy(stage);
      expect((await orders(stage)).status?.lastSwitchover).toMatchObject({ from: "orders-1", to: "orders-3" });
      expect((await orders(stage)).metadata.annotations?.[labels.switchover]).toBeUndefined();
      expect(writer.longestGapMs).toBeLessThan(3_000);
      expect(postgres.ledger.losses).toEqual([]);
      await quiet(stage);
    }),
  );

  test(
    "stops the commits of a primary that is cut off, before another one is promoted",
    scenario(4, async (stage) => {
      const { world, postgres } = stage;
      // The operator gives it up before its lease has ended.
      await begin(stage, { failover: { silenceSeconds: 2, maximumLag: "16Mi" } });
      await world.run(3_000);
      const former = postgres.server("orders-1");
      postgres.isolate("orders-1");
      await world.until("its end", () => !former.acceptsCommits, { within: 6_000 });
      await world.until("another primary", () => postgres.primary() !== undefined);
      expect(postgres.primary()).not.toBe(former);
      postgres.reconnect();
      await world.settled();
      await expectHealthy(stage);
      await quiet(stage);
    }),
  );

  test(
    "promotes nobody before the lease has ended of a primary whose pod is deleted while nobody reaches its node",
    scenario(10, async (stage) => {
      const { world, postgres } = stage;
      await begin(stage);
      const node = await nodeOf(stage, "orders-1");
      world.failNode(node, "isolated");
      // Replicas lose it first, so that none receives from it any more.
      postgres.isolate("orders-1", ["orders-2", "orders-3"]);
      await world.run(8_000);
      postgres.isolate("orders-1", ["operator"], "refused");
      await world.delete(Pod, "orders-1");
      await world.until("another primary", () => (postgres.primary()?.name ?? "orders-1") !== "orders-1");
      expect(postgres.violations).toEqual([]);
      postgres.reconnect();
      await world.recoverNode(node);
      await world.settled();
      await expectHealthy(stage);
    }),
  );

  test(
    "keeps a primary that only the operator does not reach",
    scenario(5, async (stage) => {
      const { world, postgres } = stage;
      const writer = await begin(stage);
      await world.run(3_000);
      postgres.isolate("orders-1", ["operator"]);
      await world.run(3_500);
      postgres.reconnect();
      await world.settled();
      expect(postgres.primary()?.name).toBe("orders-1");
      expect(writer.longestGapMs).toBeLessThan(1_000);
      await expectHealthy(stage);
    }),
  );
});

test(
  "a former primary with commits of its own goes back by a rewind, and is not copied",
  scenario(8, async (stage) => {
    const { world, postgres } = stage;
    await begin(stage);
    await world.run(minutes(1));
    postgres.isolate("orders-1");
    await world.until("another primary", () => (postgres.primary()?.name ?? "orders-1") !== "orders-1");
    expect(postgres.ledger.losses[0]?.commits.length).toBeGreaterThan(10);
    postgres.reconnect();
    await world.settled();
    expect(postgres.rejoined.filter((each) => each.startsWith("orders-1"))).toEqual(["orders-1 rewound"]);
    await expectHealthy(stage);
  }),
);

test(
  "the replica that has the most becomes the primary",
  scenario(9, async (stage) => {
    const { world, postgres } = stage;
    await begin(stage);
    postgres.slowLog("orders-2", 30_000);
    await world.run(5_000);
    world.kill("orders-1");
    await world.until("another primary", () => (postgres.primary()?.name ?? "orders-1") !== "orders-1");
    expect(postgres.primary()?.name).toBe("orders-3");
    postgres.slowLog("orders-2", 0);
    await world.settled();
    await expectHealthy(stage);
  }),
);

test("a failover goes on when another client has deleted the operator's certificate", async () => {
  const stage = await setUp(11);
  await using world = stage.world;
  await begin(stage, synchronous);
  await world.delete(Secret, "orders-operator-tls");
  world.kill("orders-1");
  await world.settled();
  expect(await primaryName(stage)).not.toBe("orders-1");
  await expectHealthy(stage);
});

test("a replica whose volume is deleted starts again from a copy, also when its node was lost meanwhile", async () => {
  const stage = await setUp(2);
  await using world = stage.world;
  await begin(stage);
  const node = await nodeOf(stage, "orders-2");
  world.failNode(node);
  await world.delete(PersistentVolumeClaim, "data-orders-2");
  await world.run(5_000);
  await world.recoverNode(node);
  await world.settled();
  await expectHealthy(stage);
  expect(stage.postgres.rejoined.filter((each) => each === "orders-2 copied")).toHaveLength(2);
});

describe("a replica that lacks too much", () => {
  /** Replicas that receive nothing for a while, and a primary whose node has lost power. */
  async function fallBehind(stage: Stage, spec: Parameters<typeof begin>[1]): Promise<string> {
    const { world, postgres } = stage;
    await begin(stage, spec);
    await world.run(minutes(1));
    for (const name of ["orders-2", "orders-3"]) postgres.slowLog(name, 30_000);
    await world.run(10_000);
    const node = await nodeOf(stage, "orders-1");
    world.failNode(node);
    await world.run(20_000);
    for (const name of ["orders-2", "orders-3"]) postgres.slowLog(name, 0);
    return node;
  }

  test(
    "is not promoted, and the primary comes back with everything",
    scenario(6, async (stage) => {
      const { world, postgres } = stage;
      const node = await fallBehind(stage, { failover: { maximumLag: "1Mi", silenceSeconds: 4 } });
      expect(postgres.primary()).toBeUndefined();
      expect((await orders(stage)).status?.waitingFor?.what).toMatch(
        /no instance can take over: orders-[23], the best replica, lacks \d+ bytes of what orders-1 had; bring orders-1 back, or raise spec.failover.maximumLag/,
      );
      await world.recoverNode(node);
      await world.settled({ within: minutes(5) });
      expect(postgres.ledger.losses).toEqual([]);
      await expectHealthy(stage);
    }),
  );

  test(
    "is promoted when its user accepts the loss, which the status names",
    scenario(7, async (stage) => {
      const { world, postgres } = stage;
      const node = await fallBehind(stage, { failover: { maximumLag: "1Mi", silenceSeconds: 4 } });
      await world.patch(PostgresCluster, "orders", { spec: { failover: { maximumLag: "1Gi" } } });
      await world.until("another primary", () => postgres.primary() !== undefined);
      const [loss] = postgres.ledger.losses;
      expect(loss?.commits.length).toBeGreaterThan(50);
      expect((await orders(stage)).status?.lastFailover?.lostAtMost).toMatch(
        /^\d{7,} bytes of the log, and what orders-1 committed after 0\//,
      );
      await world.recoverNode(node);
      await world.settled({ within: minutes(5) });
      await expectHealthy(stage);
    }),
  );
});

test.each([
  { when: "after", first: 1 },
  { when: "before", first: 2 },
] as const)("an operator that dies $when each second write of a failover completes it", async ({ when, first }) => {
  const writes = await writesOfFailover();
  expect(writes).toBeGreaterThan(5);
  for (let nth = first; nth <= writes; nth += 2)
    await failOver(100 + nth, (world) => world.crashOperatorAt(world.operatorWrites + nth, when));
});

/** The primary dies; afterwards all is well, and nothing is lost. */
async function failOver(seed: number, meanwhile: (world: World) => void): Promise<number> {
  const stage = await setUp(seed, { controllers: "observed" });
  await using world = stage.world;
  await begin(stage, synchronous);
  const before = world.operatorWrites;
  meanwhile(world);
  world.kill("orders-1");
  await world.settled();
  await expectHealthy(stage);
  return world.operatorWrites - before;
}

function writesOfFailover(): Promise<number> {
  return failOver(100, () => {});
}
