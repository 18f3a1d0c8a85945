/** Settings in the simulated world: what restarts, in which order, and what clients notice. */
import { describe, expect, test } from "vitest";
import { Secret } from "setpoint/kinds";
import { PostgresCluster } from "./kind/postgres-cluster.ts";
import {
  begin,
  cluster,
  expectHealthy,
  orders,
  primaryName,
  quiet,
  scenario,
  setUp,
  type Stage,
  synchronous,
} from "./testing/postgres-stage.ts";

async function setParameters({ world }: Stage, parameters: Readonly<Record<string, string>>): Promise<void> {
  await world.patch(PostgresCluster, "orders", { spec: { parameters } });
  await world.settled();
}

function settings({ postgres }: Stage, name: string): readonly (string | undefined)[] {
  return postgres.servers.map((server) => server.setting(name));
}

describe("a cluster gets a setting", () => {
  test(
    "that a reload brings, and no server restarts",
    scenario(11, async (stage) => {
      const writer = await begin(stage, synchronous);
      await stage.world.run(1_000);
      await setParameters(stage, { work_mem: "8MB" });
      await stage.world.run(3_000);
      expect(await primaryName(stage)).toBe("orders-1");
      expect(writer.longestGapMs).toBeLessThan(1_000);
      await expectHealthy(stage);
      await quiet(stage);
    }),
  );

  test(
    "that needs a restart: replicas first, then one takes over",
    scenario(12, async (stage) => {
      const writer = await begin(stage, synchronous);
      await stage.world.run(1_000);
      await setParameters(stage, { shared_buffers: "1GB" });
      await stage.world.until("all have it", () => settings(stage, "shared_buffers").every((each) => each === "1GB"));
      await stage.world.settled();
      expect((await orders(stage)).status?.lastSwitchover).toMatchObject({ from: "orders-1" });
      expect((await orders(stage)).status?.lastFailover).toBeUndefined();
      expect(writer.longestGapMs).toBeLessThan(4_000);
      expect(stage.postgres.ledger.losses).toEqual([]);
      await expectHealthy(stage);
      await quiet(stage);
    }),
  );

  test(
    "that lowers a limit: the primary first, which stays the primary",
    scenario(13, async (stage) => {
      const writer = await begin(stage, { ...synchronous, parameters: { max_connections: "200" } });
      await stage.world.run(1_000);
      await setParameters(stage, { max_connections: "50" });
      await stage.world.until("all have it", () => settings(stage, "max_connections").every((each) => each === "50"));
      await stage.world.settled();
      expect(await primaryName(stage)).toBe("orders-1");
      expect((await orders(stage)).status?.lastFailover).toBeUndefined();
      expect(writer.longestGapMs).toBeLessThan(4_000);
      await expectHealthy(stage);
      await quiet(stage);
    }),
  );
});

test("an operator that is killed at any write of a lower limit completes it", async () => {
  for (let nth = 1; nth <= 6; nth++) {
    const stage = await setUp(200 + nth, { controllers: "observed" });
    await using world = stage.world;
    await begin(stage, { ...synchronous, parameters: { max_connections: "200", shared_buffers: "1GB" } });
    world.crashOperatorAt(world.operatorWrites + nth, nth % 2 === 0 ? "before" : "after");
    await setParameters(stage, { max_connections: "50", shared_buffers: "2GB" });
    await world.until("all have both", () =>
      [...settings(stage, "max_connections"), ...settings(stage, "shared_buffers")].every(
        (each) => each === "50" || each === "2GB",
      ),
    );
    await world.settled();
    await expectHealthy(stage);
  }
});

test(
  "a Secret of another owner in the place of the login stops a new cluster with the reason, until it is gone",
  scenario(17, async (stage) => {
    const { world } = stage;
    await world.apply(Secret({ name: "orders-app", stringData: { password: "of another operator" } }));
    await world.apply(cluster());
    await world.until("the reason", async () => (await orders(stage)).status?.waitingFor !== undefined);
    expect((await orders(stage)).status).toMatchObject({
      phase: "Failed",
      waitingFor: {
        what: expect.stringMatching(/^Secret "orders-app" was not made for this cluster; delete or rename/),
      },
    });
    await world.delete(Secret, "orders-app");
    await world.until("a start", async () => (await orders(stage)).status?.phase === "Running", { within: 120_000 });
    await expectHealthy(stage);
  }),
);
