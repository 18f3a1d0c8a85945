/**
 * The acceptance tests of the operator in the simulated world. On real etcd they run in
 * `e2e/etcd-acceptance.long.test.ts`.
 */
import { AcceptanceRun, simulatedIssuer } from "@setpoint/data-service";
import { type KindRef, minutes } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { EtcdModel, simulate, simulatedOperatorImage, TransferModel, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";
import { endpointsOf, simulatedValues } from "./testing/simulated-values.ts";

const target = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster" };

async function setUp(seed: number): Promise<{ readonly world: World; readonly etcd: EtcdModel }> {
  const etcd = new EtcdModel();
  // Clusters are deleted on purpose.
  etcd.mayStopAll = true;
  const transfers = new TransferModel(
    { etcd: (source) => etcd.snapshot(endpointsOf(source)) },
    { etcd: simulatedValues(etcd) },
  );
  const world = await simulate({
    seed,
    models: [etcd, transfers],
    operators: [
      (process) => etcdOperator(simulatedGateway(etcd, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
  });
  return { world, etcd };
}

async function ended(world: World): Promise<NonNullable<AcceptanceRun["status"]>> {
  const status = async (): Promise<AcceptanceRun["status"]> => (await world.get(AcceptanceRun, "proof")).status;
  const isOver = async (): Promise<boolean> => (await status())?.finishedAt !== undefined;
  await world.until("the end of the run", isOver, { within: minutes(90) });
  const end = await status();
  if (end === undefined) throw new Error("the run has no status");
  return end;
}

async function expectNothingLeft(world: World): Promise<void> {
  for (const kind of [EtcdCluster, Pod, PersistentVolumeClaim] as readonly KindRef[])
    expect((await world.list(kind)).map(({ metadata }) => metadata.name)).toEqual([]);
}

test("every check passes on etcd, and nothing is left but the report", async () => {
  const { world } = await setUp(1);
  await using _ = world;
  await world.apply(AcceptanceRun({ name: "proof", spec: { target } }));
  const status = await ended(world);
  expect(status, JSON.stringify(status)).toMatchObject({ phase: "Passed", passed: 8, failed: 0, skipped: 0 });
  await expectNothingLeft(world);
  await world.expectQuiet();
});

/** More than a run makes. */
const writesMax = 1_200;
const rounds = 4;
/** Not each write: this operator's own restarts have tests of their own. */
const every = 24;

test.each(Array.from({ length: rounds }, (_, round) => 1 + round * (every / rounds)))(
  "an operator that restarts again and again goes on, and the run passes (from write %i)",
  async (from) => {
    const { world } = await setUp(2);
    await using _ = world;
    for (let write = from; write <= writesMax; write += every)
      world.crashOperatorAt(write, write % 2 === 0 ? "before" : "after");
    await world.apply(AcceptanceRun({ name: "proof", spec: { target } }));
    const status = await ended(world);
    expect(status, JSON.stringify(status)).toMatchObject({ phase: "Passed", passed: 8 });
    expect(world.operatorWrites).toBeLessThan(writesMax);
    await expectNothingLeft(world);
  },
);

test("a change that the operator does not follow fails its check, with what it waits for", async () => {
  const { world } = await setUp(3);
  await using _ = world;
  await world.apply(AcceptanceRun({ name: "proof", spec: { target, checks: ["change"], checkTimeoutSeconds: 300 } }));
  const isUp = async (): Promise<boolean> =>
    (await world.get(AcceptanceRun, "proof")).status?.checks[0]?.state === "Passed";
  await world.until("the first check", isUp, { within: minutes(10) });
  // As when a user pauses what is tested: the operator leaves the cluster as it is.
  await world.patch(EtcdCluster, "proof-main", { spec: { paused: true } });
  const status = await ended(world);
  expect(status.checks[1]).toMatchObject({ name: "change", state: "Failed" });
  expect(status.checks[1]?.message).toContain("it is Paused");
});

test("every check runs on the version that the run names", async () => {
  const { world } = await setUp(4);
  await using _ = world;
  const checks = ["change", "backup-and-restore"] as const;
  await world.apply(AcceptanceRun({ name: "proof", spec: { target, version: "3.5.35", checks: [...checks] } }));
  const seen = new Set<string | undefined>();
  const isOver = async (): Promise<boolean> => {
    for (const { status } of await world.list(EtcdCluster)) seen.add(status?.currentVersion);
    return (await world.get(AcceptanceRun, "proof")).status?.finishedAt !== undefined;
  };
  await world.until("the end of the run", isOver, { within: minutes(90) });
  const { status } = await world.get(AcceptanceRun, "proof");
  expect(status, JSON.stringify(status)).toMatchObject({ phase: "Passed", passed: 4 });
  seen.delete(undefined);
  expect([...seen]).toEqual(["3.5.35"]);
  await expectNothingLeft(world);
});

test.each([
  ["3.3.27", "spec.version: version 3.3.27 is not supported, only 3.4.x and 3.5.x and 3.6.x"],
  ["3.5.1", "spec.version: version 3.5.1 was withdrawn"],
  ["latest", 'spec.version: "latest" is not a version'],
])("a run on version %s, which no cluster may have, is refused with the reason", async (version, reason) => {
  const { world } = await setUp(5);
  await using _ = world;
  await world.apply(AcceptanceRun({ name: "proof", spec: { target, version } }));
  const status = await ended(world);
  expect(status).toMatchObject({ phase: "Failed", passed: 0, failed: 0, checks: [] });
  expect(status.message).toContain(reason);
  expect(status.conditions).toContainEqual(
    expect.objectContaining({ type: "Passed", status: "False", message: status.message }),
  );
  await expectNothingLeft(world);
  await world.expectQuiet();
});
