import { ConfigMap, Lease } from "@setpoint/api";
import { controller, defineKind, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { simulate, type World } from "./index.ts";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
});

const candyOperator = defineOperator({
  name: "candy",
  controllers: [
    controller(Candy, {
      owns: { wrappers: ConfigMap },
      desired: ({ metadata, spec }) => ({
        children: [ConfigMap({ name: metadata.name, data: { flavor: spec.flavor } })],
      }),
    }),
  ],
});

/** Who wrote the wrappers, in order. */
function writers(world: World): readonly string[] {
  return world.trace.flatMap((line) => {
    const who = / s {2}(\S+) +(?:POST|PATCH) default\/configmaps/.exec(line)?.[1];
    return who === undefined || who === "controllers" ? [] : [who];
  });
}

async function transitions(world: World): Promise<number> {
  const lease = await world.get(Lease, { namespace: "operators", name: "candy" });
  return lease.spec?.leaseTransitions ?? 0;
}

test("a leader that is paused for longer than its lease is replaced, and writes nothing when it goes on", async () => {
  await using world = await simulate({ seed: 5, operators: [candyOperator], replicas: 2 });
  await world.apply(Candy({ name: "one", spec: { flavor: "mint" } }));
  await world.settled();
  const [leader = ""] = writers(world);
  const before = await transitions(world);
  world.pauseOperator(60_000, leader === "candy" ? 0 : 1);
  await world.apply(Candy({ name: "two", spec: { flavor: "lime" } }));
  await world.run(90_000);
  await world.settled();
  expect(await transitions(world)).toBe(before + 1);
  const [, second] = writers(world);
  expect(second).not.toBe(leader);
  expect(writers(world)).toHaveLength(2);
});

test("a world is settled only when a leader has had nothing to write for a while", async () => {
  await using world = await simulate({ seed: 7, operators: [candyOperator], replicas: 2 });
  await world.settled();
  const spec = { holderIdentity: "other-replica", leaseDurationSeconds: 20 };
  await world.patch(Lease, { namespace: "operators", name: "candy" }, { spec });
  const patchedMs = world.host.clock.monotonic();
  // Silence is as long as it must be shortly after a replica leads again.
  await world.run(6_000);
  await world.settled();
  const [, taken = "0"] =
    world.trace
      .flatMap((line) => [/^ *([\d.]+) s {2}candy\S* +PUT operators\/leases/.exec(line) ?? []])
      .find(([, seconds]) => Number(seconds) * 1_000 > patchedMs + 3_000) ?? [];
  expect(Number(taken)).toBeGreaterThan(0);
  expect(world.host.clock.monotonic() - Number(taken) * 1_000).toBeGreaterThan(14_000);
});

test("replicas whose clocks are skewed and drift still have one leader", async () => {
  const clocks = [{ rate: 1.1, offsetMs: 3_600_000 }, { rate: 0.9 }];
  await using world = await simulate({ seed: 6, operators: [candyOperator], replicas: 2, clocks });
  await world.apply(Candy({ name: "one", spec: { flavor: "mint" } }));
  await world.settled();
  const before = await transitions(world);
  await world.run(600_000);
  world.jumpOperatorClock(-86_400_000);
  await world.run(600_000);
  expect(await transitions(world)).toBe(before);
  expect(writers(world)).toHaveLength(1);
});
