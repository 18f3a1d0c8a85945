/** Sizes by name: what a plan gives reaches members like any other change; in the simulated world. */
import { simulatedIssuer } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf, EtcdModel, simulate, type World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import type { EtcdPlan } from "./kind/etcd-plans.ts";
import {
  bootstrap,
  claims,
  cluster,
  expectHealthy,
  memberNames,
  scenario,
  type Stage,
  whileSomebodyWrites,
} from "./testing/etcd-stage.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

type Staged = Pick<Stage, "world">;

async function change({ world }: Staged, spec: object): Promise<void> {
  await world.patch(EtcdCluster, "orders", { spec });
  await world.run(seconds(1));
}

/** What members have, each value once. */
async function sizes({ world }: Staged): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const containers = (await world.list(Pod)).map(({ spec }) => spec?.containers[0]);
  const quota = (args: readonly string[] = []): unknown => args.find((each) => each.startsWith("--quota-backend"));
  const volumes = await world.list(PersistentVolumeClaim);
  return {
    cpu: distinct(containers.map((each) => each?.resources?.requests?.["cpu"])),
    memory: distinct(containers.map((each) => each?.resources?.limits?.["memory"])),
    quota: distinct(containers.map((each) => quota(each?.args))),
    storage: distinct(volumes.map(({ spec }) => spec?.resources?.requests?.["storage"])),
  };
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Set(values)];
}

const small = { cpu: ["250m"], memory: ["1Gi"], quota: ["--quota-backend-bytes=1073741824"], storage: ["4Gi"] };
const medium = { cpu: ["1"], memory: ["4Gi"], quota: ["--quota-backend-bytes=2147483648"], storage: ["8Gi"] };

async function accepted({ world }: Staged): Promise<{ readonly status?: string; readonly message?: string }> {
  return conditionOf(await world.get(EtcdCluster, "orders"), "Accepted") ?? {};
}

async function planOf({ world }: Staged): Promise<string | undefined> {
  return (await world.get(EtcdCluster, "orders")).status?.plan?.name;
}

test(
  "a cluster gets the sizes of its plan, and a larger plan reaches members one at a time and grows their volumes",
  scenario(801, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { plan: "small" });
    await expectHealthy(stage);
    expect(await sizes(stage)).toEqual(small);
    const before = memberNames(stage);
    const from = world.trace.length;
    await whileSomebodyWrites(stage, () => change(stage, { plan: "medium" }));
    expect(memberNames(stage)).toEqual(before);
    expect(await sizes(stage)).toEqual(medium);
    expect(await planOf(stage)).toBe("medium");
    const trace = world.trace.slice(from);
    expect(trace.filter((line) => line.includes("etcd move leader"))).toHaveLength(1);
    expect(trace.filter((line) => /etcd +DELETE default\/pods/.test(line))).toHaveLength(3);
  }),
);

test(
  "what the spec says itself wins over the plan, a resource as a whole",
  scenario(802, async (stage) => {
    const options = { "quota-backend-bytes": "536870912" };
    await bootstrap(stage, {
      ...claims,
      ...{ plan: "medium", options, pod: { resources: { limits: { memory: "2Gi" } } } },
    });
    await expectHealthy(stage);
    expect(await sizes(stage)).toEqual({
      ...{ cpu: ["1"], memory: ["2Gi"], storage: ["1Gi"] },
      quota: ["--quota-backend-bytes=536870912"],
    });
    const [pod] = await stage.world.list(Pod);
    // The server takes it from the limit; the plan's 4Gi would be more than that.
    expect(pod?.spec?.containers[0]?.resources?.requests?.["memory"] ?? "2Gi").toBe("2Gi");
  }),
);

test(
  "a plan with smaller volumes is refused with the reason, and nothing changes",
  scenario(803, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { plan: "medium" });
    const before = world.trace.length;
    await change(stage, { plan: "small" });
    await world.run(minutes(2));
    const { status, message } = await accepted(stage);
    expect(status).toBe("False");
    expect(message).toBe(
      'spec.plan: plan "small": volumes of 4Gi are smaller than those of the members, 8Gi, and a volume cannot shrink',
    );
    expect(await sizes(stage)).toEqual(medium);
    expect(await planOf(stage)).toBe("medium");
    const writes = world.trace.slice(before).filter((line) => / etcd +(PATCH|POST|DELETE|etcd move)/.test(line));
    expect(writes.filter((line) => !/status|events/.test(line))).toEqual([]);
    await change(stage, { plan: "medium" });
    await world.settled();
    expect((await accepted(stage)).status).toBe("True");
    await expectHealthy(stage);
  }),
);

test(
  "an unknown plan starts no member, and a running cluster keeps the plan that it has",
  scenario(804, async (stage) => {
    const { world } = stage;
    await world.apply(cluster("orders", { plan: "huge" }));
    await world.run(minutes(1));
    expect(await world.list(Pod)).toEqual([]);
    const text = 'spec.plan: plan "huge" is unknown: available plans are small, medium, large';
    expect((await accepted(stage)).message).toBe(text);
    expect((await world.get(EtcdCluster, "orders")).status?.waitingFor?.what).toBe(text);
    await change(stage, { plan: "small" });
    await world.settled();
    await change(stage, { plan: "huge" });
    await world.run(minutes(2));
    expect((await accepted(stage)).message).toBe(text);
    expect(await sizes(stage)).toEqual(small);
    expect(await planOf(stage)).toBe("small");
  }),
);

test(
  "a dry run lists the steps to a larger plan, and the status still names the one in force",
  scenario(805, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { plan: "small" });
    await change(stage, { dryRun: true, plan: "medium" });
    await world.run(minutes(2));
    const { status } = await world.get(EtcdCluster, "orders");
    expect(status?.plannedSteps?.map(({ action }) => action)).toEqual([
      ...["RestartMember", "RestartMember", "SwitchLeader", "RestartMember", "GrowVolume", "GrowVolume", "GrowVolume"],
    ]);
    expect(await sizes(stage)).toEqual(small);
    expect(await planOf(stage)).toBe("small");
    await change(stage, { dryRun: false });
    await world.settled();
    expect(await sizes(stage)).toEqual(medium);
    await expectHealthy(stage);
  }),
);

describe("the server keeps a cluster on the volumes that it was made with:", () => {
  test(
    "a plan can replace volumeClaimTemplate and the other way round, and without both volumes would be lost",
    scenario(806, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      await whileSomebodyWrites(stage, () => change(stage, { volumeClaimTemplate: null, plan: "small" }));
      expect(await sizes(stage)).toEqual(small);
      await expect(change(stage, { plan: null })).rejects.toThrow("needs a plan or volumeClaimTemplate");
      await change(stage, { ...claims, plan: null });
      await world.run(minutes(1));
      expect((await accepted(stage)).message).toMatch(/^spec.volumeClaimTemplate: volumes of 1Gi are smaller than/);
      expect(await sizes(stage)).toEqual(small);
      const template = { ...claims.volumeClaimTemplate, resources: { requests: { storage: "5Gi" } } };
      await whileSomebodyWrites(stage, () => change(stage, { volumeClaimTemplate: template }));
      expect(await sizes(stage)).toEqual({ ...nothing, storage: ["5Gi"] });
      expect(await planOf(stage)).toBe(undefined);
    }),
  );

  test(
    "one without volumes gets none by a plan",
    scenario(807, async (stage) => {
      await bootstrap(stage, { size: 1 });
      await expect(change(stage, { plan: "small" })).rejects.toThrow("one without volumes cannot get either");
    }),
  );
});

const nothing = { cpu: [undefined], memory: [undefined], quota: [undefined] };

const gives = (memory: string, storage: string): EtcdPlan["gives"] => ({
  resources: { requests: { memory }, limits: { memory } },
  storage,
});

/** A world whose operator reads the plans again when it restarts. */
async function withPlans(catalogue: { plans: readonly EtcdPlan[] }): Promise<World> {
  const etcd = new EtcdModel();
  return simulate({
    seed: 808,
    models: [etcd],
    operators: [
      (process) =>
        etcdOperator(simulatedGateway(etcd, process), { plans: catalogue.plans }, undefined, simulatedIssuer),
    ],
  });
}

const plan: EtcdPlan = { name: "gold", gives: gives("64Mi", "2Gi") };

test.each([
  ["withdrawn", { ...plan, withdrawn: "2020-01-31", reason: "too small" }, "Withdrawn", /was withdrawn on 2020-01-31/],
  ["deprecated", { ...plan, deprecated: "2020-01-31" }, "Deprecated", /has been deprecated since 2020-01-31/],
  ["taken out", undefined, "Unknown", /no longer in the catalogue, and members keep its settings/],
] as const)("a running cluster keeps a plan that was %s, and the status says so", async (_, entry, reason, message) => {
  const catalogue: { plans: readonly EtcdPlan[] } = { plans: [plan] };
  await using world = await withPlans(catalogue);
  await bootstrap({ world }, { plan: "gold" });
  expect(conditionOf(await world.get(EtcdCluster, "orders"), "PlanMaintained")?.status).toBe("True");
  catalogue.plans = entry === undefined ? [] : [entry];
  await world.restartOperator();
  await world.settled();
  const offered = conditionOf(await world.get(EtcdCluster, "orders"), "PlanMaintained");
  expect(offered).toMatchObject({ status: "False", reason });
  expect(offered?.message).toMatch(message);
  expect((await accepted({ world })).status).toBe("True");
  await change({ world }, { size: 5 });
  await world.settled();
  expect(await sizes({ world })).toMatchObject({ memory: ["64Mi"], storage: ["2Gi"] });
  expect(await world.list(Pod)).toHaveLength(5);
});

test("a withdrawn plan is refused for a new cluster", async () => {
  await using world = await withPlans({ plans: [{ ...plan, withdrawn: "2020-01-31" }] });
  await world.apply(cluster("orders", { plan: "gold" }));
  await world.run(minutes(1));
  expect((await accepted({ world })).message).toBe(
    'spec.plan: plan "gold" was withdrawn on 2020-01-31; no plans are offered',
  );
  expect(await world.list(Pod)).toEqual([]);
});

test("a plan that the platform changes reaches its clusters, and smaller volumes only new ones", async () => {
  const catalogue = { plans: [plan] };
  await using world = await withPlans(catalogue);
  await bootstrap({ world }, { plan: "gold" });
  catalogue.plans = [{ ...plan, gives: gives("96Mi", "1Gi") }];
  await world.restartOperator();
  await world.settled();
  expect(await sizes({ world })).toMatchObject({ memory: ["96Mi"], storage: ["2Gi"] });
  await world.apply(cluster("others", { plan: "gold", size: 1 }));
  await world.settled();
  expect((await sizes({ world }))["storage"]).toEqual(expect.arrayContaining(["1Gi", "2Gi"]));
});
