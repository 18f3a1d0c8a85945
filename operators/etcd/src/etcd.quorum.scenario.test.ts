/**
 * A majority is lost for good: nothing goes on without consent, and then from the most advanced member; in
 * the simulated world.
 */
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf, type MemberRecord } from "setpoint/testing";
import { minutes, seconds } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { approvalAnnotation } from "./kind/quorum-recovery.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  expectNothingLost,
  memberNames,
  scenario,
  setUp,
  type Stage,
  startWriter,
} from "./testing/etcd-stage.ts";

type Spec = Partial<EtcdCluster["spec"]>;

/** What the model of etcd keeps on a volume, as far as these stories read it. */
interface SimulatedData {
  readonly members: ReadonlyMap<string, MemberRecord>;
}

function recovery(policy: EtcdCluster["spec"]["quorumRecovery"]["policy"]): Spec {
  return { quorumRecovery: { policy, fencingSeconds: 30, withoutCopy: false, keepCopySeconds: 604_800 } };
}
const afterTimeout = recovery("afterTimeout");
const onApproval = recovery("onApproval");
const never = recovery("never");

async function present({ world }: Stage): Promise<EtcdCluster> {
  return world.get(EtcdCluster, "orders");
}

/** Its process ends, and its volume is empty afterwards. */
async function lose({ world, etcd }: Stage, names: readonly string[]): Promise<void> {
  for (const name of names) {
    etcd.forgive(name);
    await world.delete(PersistentVolumeClaim, `data-${name}`);
  }
  for (const name of names) world.kill(name);
}

async function approve(stage: Stage, value: string | undefined): Promise<void> {
  await stage.world.patch(EtcdCluster, "orders", { metadata: { annotations: { [approvalAnnotation]: value ?? "" } } });
}

async function expectRecovered(stage: Stage, survivor: string): Promise<void> {
  await stage.world.settled({ within: minutes(10) });
  expect(stage.etcd.forced).toEqual([survivor]);
  expect((await present(stage)).status?.quorumRecovery).toMatchObject({ state: "Recovered", survivor });
  const flags = (await stage.world.list(Pod)).flatMap(({ spec }) => spec?.containers[0]?.args ?? []);
  expect(flags).not.toContain("--force-new-cluster");
}

test(
  "a lost majority is reported with the survivors and the possible loss, and nothing happens without consent",
  scenario(201, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...onApproval });
    const [survivor = "", ...lost] = memberNames(stage);
    await lose(stage, lost);
    await world.run(minutes(20));
    expect(etcd.forced).toEqual([]);
    const { status } = await present(stage);
    expect(status?.quorumRecovery).toMatchObject({ state: "Waiting", survivor, lost });
    const condition = conditionOf(await present(stage), "QuorumLost");
    expect(condition).toMatchObject({ status: "True", reason: "MajorityLost" });
    for (const part of [...lost, "its volume is being deleted", `there is ${survivor} at revision`, approvalAnnotation])
      expect(condition?.message).toContain(part);
    expect(condition?.message).toContain(status?.quorumRecovery?.approval);
    await world.expectQuiet();

    await approve(stage, "anything else");
    await world.run(minutes(5));
    expect(etcd.forced).toEqual([]);

    await approve(stage, status?.quorumRecovery?.approval);
    await expectRecovered(stage, survivor);
    await expectHealthy(stage);
    await world.expectQuiet();
  }),
);

test(
  "members that hang are given up, never come back, and keep their volumes; all that was acknowledged is there",
  scenario(202, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...afterTimeout });
    const writer = startWriter(stage);
    await world.run(seconds(10));
    const [survivor = "", ...lost] = memberNames(stage);
    for (const name of lost) etcd.hang(name);
    await world.settled({ within: minutes(10) });
    await expectRecovered(stage, survivor);
    await expectNothingLost(world, writer);
    writer.stop();
    const left = (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name);
    for (const name of lost) expect(left).toContain(`data-${name}`);
    expect(memberNames(stage).filter((name) => lost.includes(name))).toEqual([]);
    await world.expectQuiet();
  }),
);

test(
  "the cluster goes on from the survivor that has the most, also when none of them answers clients",
  scenario(203, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, ...afterTimeout, size: 5 });
    const names = memberNames(stage);
    const writer = startWriter(stage);
    await world.run(seconds(5));
    world.stopOperator();
    // The first by name is behind: it was down while the others went on.
    const [behind = "", ahead = "", ...lost] = names;
    world.kill(behind);
    await world.run(seconds(20));
    await lose(stage, lost);
    world.kill(ahead);
    await world.restartOperator();
    await expectRecovered(stage, ahead);
    await expectNothingLost(world, writer);
    writer.stop();
  }),
);

test(
  "a cluster that must never go on by itself waits",
  scenario(204, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...never });
    const [, ...lost] = memberNames(stage);
    await lose(stage, lost);
    await world.run(minutes(5));
    await approve(stage, (await present(stage)).status?.quorumRecovery?.approval);
    await world.run(minutes(5));
    expect(etcd.forced).toEqual([]);
    expect(conditionOf(await present(stage), "QuorumLost")?.message).toContain("policy is never");
  }),
);

test(
  "a majority that only restarts is no lost one",
  scenario(205, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...afterTimeout });
    world.killAll();
    await world.settled({ within: minutes(10) });
    expect(etcd.forced).toEqual([]);
    expect((await present(stage)).status?.quorumRecovery).toBeUndefined();
    await expectHealthy(stage);
  }),
);

test(
  "a full outage in which a minority loses its volumes ends without a recovery",
  scenario(207, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...afterTimeout });
    const writer = startWriter(stage);
    await world.run(seconds(10));
    world.stopOperator();
    const [lost = ""] = memberNames(stage);
    await world.loseVolume(`data-${lost}`);
    world.killAll();
    await world.restartOperator();
    await world.settled({ within: minutes(10) });
    expect(etcd.forced).toEqual([]);
    expect(memberNames(stage)).not.toContain(lost);
    await expectHealthy(stage);
    await expectNothingLost(world, writer);
    writer.stop();
  }),
);

/** The members that the data of each copy know. */
function copiedMembers({ transfers }: Stage): readonly (readonly string[])[] {
  return [...transfers.copies.values()].map((data) =>
    [...(data as SimulatedData).members.values()].map(({ name }) => name),
  );
}

test(
  "a forced start that is killed in the middle is repeated, and the copy from before stays as it was",
  scenario(208, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, ...afterTimeout });
    const names = memberNames(stage);
    const [survivor = "", ...lost] = names;
    await lose(stage, lost);
    await world.until("the copy is made", async () => stage.transfers.copies.size > 0);
    await world.until("it has gone on alone", async () => etcd.forced.length > 0);
    world.kill(survivor);
    expect(copiedMembers(stage)).toEqual([names]);
    await expectRecovered(stage, survivor);
    await expectHealthy(stage);
    expect(copiedMembers(stage)).toEqual([names]);
    const { quorumRecovery } = (await present(stage)).status ?? {};
    expect([...stage.transfers.copies.keys()]).toEqual([quorumRecovery?.copy?.folder]);
    expect(quorumRecovery?.copy?.removedAt).toBeUndefined();
    await world.expectQuiet();
  }),
);

test(
  "a copy is removed after its time, by a restart of its member",
  scenario(209, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, ...afterTimeout });
    const [survivor = "", ...lost] = memberNames(stage);
    await lose(stage, lost);
    await expectRecovered(stage, survivor);
    expect(stage.transfers.copies.size).toBe(1);
    await world.patch(EtcdCluster, "orders", { spec: { quorumRecovery: { keepCopySeconds: 0 } } });
    await world.settled({ within: minutes(10) });
    expect(stage.transfers.copies.size).toBe(0);
    expect((await present(stage)).status?.quorumRecovery?.copy?.removedAt).toBeDefined();
    await expectHealthy(stage);
    expect(memberNames(stage)).toContain(survivor);
    await world.expectQuiet();
  }),
);

test(
  "without room for a copy the recovery waits and changes nothing, until a user does without",
  scenario(210, async (stage) => {
    const { world, etcd } = stage;
    stage.transfers.copyRefusal = "the copy needs 9 bytes, and 4 are free";
    await bootstrap(stage, { ...claims, ...afterTimeout });
    const [survivor = "", ...lost] = memberNames(stage);
    await lose(stage, lost);
    const waiting = async (): Promise<string> => (await present(stage)).status?.waitingFor?.what ?? "";
    await world.until("it says so", async () => (await waiting()).includes("4 are free"));
    expect(await waiting()).toContain("spec.quorumRecovery.withoutCopy");
    await world.run(minutes(5));
    expect(etcd.forced).toEqual([]);
    await world.patch(EtcdCluster, "orders", { spec: { quorumRecovery: { withoutCopy: true } } });
    await expectRecovered(stage, survivor);
    expect((await present(stage)).status?.quorumRecovery?.copy).toBeUndefined();
    await expectHealthy(stage);
  }),
);

test("an operator that ends at any write goes on with the recovery where it was", async () => {
  for (let nth = 1, writes = Infinity; nth <= writes; nth++) {
    const stage = await setUp(206);
    await using world = stage.world;
    await bootstrap(stage, { ...claims, ...afterTimeout });
    const [survivor = "", ...lost] = memberNames(stage);
    await lose(stage, lost);
    await world.until("the loss is found", async () => (await present(stage)).status?.quorumRecovery !== undefined);
    const before = world.operatorWrites;
    world.crashOperatorAt(before + nth, nth % 2 === 0 ? "before" : "after");
    await expectRecovered(stage, survivor);
    await expectHealthy(stage);
    writes = world.operatorWrites - before;
    expect(writes).toBeGreaterThan(20);
  }
}, 240_000);
