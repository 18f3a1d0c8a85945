/** Options of etcd whose names differ between versions; in the simulated world. */
import { minutes } from "setpoint";
import { Pod } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  cluster,
  expectHealthy,
  memberNames,
  podUids,
  scenario,
  setUp,
} from "./testing/etcd-stage.ts";

const newer = "compaction-batch-limit";
const older = `experimental-${newer}`;

/** With which arguments members set the option, each once. */
async function limits(world: World): Promise<readonly string[]> {
  const args = (await world.list(Pod)).flatMap(({ spec }) => spec?.containers[0]?.args ?? []);
  return [...new Set(args.filter((each) => each.includes(newer)))];
}

async function acceptance(world: World): Promise<Partial<ReturnType<typeof conditionOf>>> {
  return conditionOf(await world.get(EtcdCluster, "orders"), "Accepted") ?? {};
}

test.each([
  ["with volumes", claims],
  ["without volumes", {}],
])("an option has the name that its version knows, before and after an upgrade to 3.6, %s", async (_, storage) =>
  scenario(1401, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...storage, version: "3.5.35", options: { [newer]: "500" } });
    await expectHealthy(stage);
    expect(await limits(world)).toEqual([`--${older}=500`]);
    expect((await acceptance(world))?.message).toContain(`etcd 3.5.35 calls it "${older}"`);
    await world.patch(EtcdCluster, "orders", { spec: { version: "3.6.16" } });
    await world.settled();
    await expectHealthy(stage);
    // A pod gets another image and keeps its arguments, which 3.6 knows too.
    expect(await limits(world)).toEqual([`--${older}=500`]);
    world.kill(memberNames(stage)[0] ?? "");
    await world.settled();
    await expectHealthy(stage);
    expect((await limits(world)).toSorted()).toEqual([`--${newer}=500`, `--${older}=500`]);
    expect((await acceptance(world))?.message).toBe("The operator accepts all fields");
    const pods = await podUids(stage);
    await world.patch(EtcdCluster, "orders", { spec: { options: { [newer]: null, [older]: "500" } } });
    await world.settled();
    expect(await podUids(stage)).toEqual(pods);
    const { status, message } = (await acceptance(world)) ?? {};
    expect(status).toBe("True");
    expect(message).toContain(`spec.options[${older}]: etcd 3.7 has no such option`);
    await world.expectQuiet();
  })(),
);

test("no member starts with an option that its version does not have, and the status names it", async () => {
  const { world } = await setUp(1402);
  await using _world = world;
  const options = { "warning-unary-request-duration": "1s" };
  await world.apply(cluster("orders", { ...claims, version: "3.5.35", options }));
  await world.run(minutes(1));
  expect(await world.list(Pod)).toEqual([]);
  expect(await acceptance(world)).toMatchObject({ status: "False", reason: "FieldsRefused" });
  expect((await acceptance(world))?.message).toBe(
    "spec.options[warning-unary-request-duration]: etcd 3.5.35 has no such option; it exists from 3.6.0 on",
  );
  await world.patch(EtcdCluster, "orders", { spec: { version: "3.6.16" } });
  await world.settled();
  expect(await acceptance(world)).toMatchObject({ status: "True" });
  expect(await world.list(Pod)).toHaveLength(3);
  await world.expectQuiet();
});

test(
  "a cluster that runs goes on without an option that only another version has",
  scenario(1403, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, version: "3.5.35" });
    const pods = await podUids(stage);
    await world.patch(EtcdCluster, "orders", { spec: { options: { "warning-unary-request-duration": "1s" } } });
    await world.settled();
    expect(await podUids(stage)).toEqual(pods);
    expect(await acceptance(world)).toMatchObject({ status: "False", reason: "FieldsRefused" });
    await expectHealthy(stage);
    await world.expectQuiet();
  }),
);
