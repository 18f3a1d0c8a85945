/**
 * The life of a cluster in the simulated world. Every scenario runs twice from its seed, and both runs must
 * be the same.
 */
import { PersistentVolumeClaim, Pod, Service } from "setpoint/kinds";
import type { World } from "setpoint/testing";
import { minutes } from "setpoint";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  memberNames,
  scenario,
  setUp,
  whileSomebodyWrites,
} from "./testing/etcd-stage.ts";

describe("a cluster", () => {
  test(
    "of three members starts",
    scenario(1, async (stage) => {
      await bootstrap(stage);
      await expectHealthy(stage);
      await stage.world.expectQuiet();
    }),
  );

  test("at rest is silent for a day", async () => {
    const stage = await setUp(8);
    await using world = stage.world;
    await bootstrap(stage, claims);
    await world.expectQuiet({ hours: 24 });
  });

  test(
    "of one member starts",
    scenario(2, async (stage) => {
      await bootstrap(stage, { size: 1 });
      await expectHealthy(stage);
      await stage.world.expectQuiet();
    }),
  );

  test(
    "grows and shrinks by learners, one at a time, and never loses its leader",
    scenario(3, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const leader = await whileSomebodyWrites(stage, async () => {
        await world.patch(EtcdCluster, "orders", { spec: { size: 5 } });
        await world.settled();
        await expectHealthy(stage);
        await world.patch(EtcdCluster, "orders", { spec: { size: 3 } });
        return etcd.leader("orders");
      });
      expect(etcd.leader("orders")).toBe(leader);
    }),
  );

  test(
    "is upgraded member by member, the leader last",
    scenario(4, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const leader = etcd.leader("orders");
      const before = memberNames(stage);
      await whileSomebodyWrites(stage, () => world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } }));
      expect(lastUpgraded(world)).toBe(leader);
      expect(memberNames(stage)).toEqual(before);
    }),
  );

  test(
    "is not upgraded further while a member is away",
    scenario(9, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const follower = memberNames(stage).findLast((name) => name !== etcd.leader("orders")) ?? "";
      const { uid } = (await world.get(Pod, follower)).metadata;
      await world.delete(Pod, follower);
      const isBack = async (): Promise<boolean> =>
        (await world.list(Pod)).some(({ metadata }) => metadata.name === follower && metadata.uid !== uid);
      await world.until("its pod is recreated", isBack);
      await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
      // Any stop that takes away the majority is a violation, with which no world settles.
      await world.settled();
      await expectHealthy(stage);
      await world.expectQuiet();
    }),
  );

  test(
    "that is paused is left alone, and healed afterwards",
    scenario(5, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      await world.patch(EtcdCluster, "orders", { spec: { paused: true } });
      await world.settled();
      const [victim = ""] = memberNames(stage);
      world.kill(victim);
      await world.run(minutes(5));
      expect(etcd.members("orders").length).toBe(2);
      expect((await world.list(Pod)).length).toBe(3);
      await world.patch(EtcdCluster, "orders", { spec: { paused: false } });
      await world.settled();
      await expectHealthy(stage);
      await world.expectQuiet();
    }),
  );

  test(
    "is deleted with everything that belongs to it",
    scenario(6, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      await world.delete(EtcdCluster, "orders");
      await world.settled();
      expect(await world.list(Pod)).toEqual([]);
      expect(await world.list(PersistentVolumeClaim)).toEqual([]);
      expect((await world.list(Service)).map(({ metadata }) => metadata.name)).toEqual(["kubernetes"]);
      await world.expectQuiet();
    }),
  );

  test(
    "that retains its volumes leaves them behind",
    scenario(7, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { ...claims, deletionPolicy: "Retain" });
      await world.delete(EtcdCluster, "orders");
      await world.settled();
      expect(await world.list(Pod)).toEqual([]);
      expect((await world.list(PersistentVolumeClaim)).length).toBe(3);
    }),
  );
});

test(
  "volumes are kept when deletionPolicy is changed to Retain before the cluster is deleted",
  scenario(26, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    await world.patch(EtcdCluster, "orders", { spec: { deletionPolicy: "Retain" } });
    await world.settled();
    await world.delete(EtcdCluster, "orders");
    await world.settled();
    expect(await world.list(Pod)).toEqual([]);
    expect((await world.list(PersistentVolumeClaim)).length).toBe(3);
  }),
);

/** The member whose pod was patched last. */
function lastUpgraded(world: World): string | undefined {
  return world.trace.flatMap((line) => /etcd +PATCH default\/pods\/([^/ ]+) → 200/.exec(line)?.[1] ?? []).at(-1);
}
