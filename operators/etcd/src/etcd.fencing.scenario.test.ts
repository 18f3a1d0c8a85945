/** Members that a user keeps stopped, in the simulated world. */
import { Operation } from "@setpoint/data-service";
import { Event, PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { minutes, seconds } from "setpoint";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  expectNothingLost,
  memberNames,
  scenario,
  type Stage,
  startWriter,
} from "./testing/etcd-stage.ts";

const quorumRecovery = {
  policy: "afterTimeout",
  fencingSeconds: 30,
  withoutCopy: false,
  keepCopySeconds: 60,
} as const;
const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };

async function fence({ world }: Stage, members: readonly string[], allowQuorumLoss = false): Promise<void> {
  await world.patch(EtcdCluster, "orders", { spec: { fencing: { members, allowQuorumLoss } } });
}

async function release({ world }: Stage): Promise<void> {
  await world.patch(EtcdCluster, "orders", { spec: { fencing: null } });
}

async function present({ world }: Pick<Stage, "world">): Promise<EtcdCluster> {
  return world.get(EtcdCluster, "orders");
}

async function podNames({ world }: Stage): Promise<readonly string[]> {
  return (await world.list(Pod)).map(({ metadata }) => metadata.name).sort();
}

async function volumeOf({ world }: Stage, member: string): Promise<string | undefined> {
  const claimed = (await world.list(PersistentVolumeClaim)).find(({ metadata }) => metadata.name === `data-${member}`);
  return claimed?.metadata.uid;
}

function follower({ etcd, ...stage }: Stage): string {
  return memberNames({ etcd, ...stage }).find((name) => name !== etcd.leader("orders")) ?? "";
}

test(
  "a fenced member stops, is neither healed nor replaced, also by a restarted operator, and comes back on its volume",
  scenario(901, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    const writer = startWriter(stage);
    await world.run(seconds(10));
    const [names, fenced] = [memberNames(stage), follower(stage)];
    const volume = await volumeOf(stage, fenced);
    await fence(stage, [fenced]);
    await world.run(minutes(5));
    await world.restartOperator();
    await world.run(minutes(5));
    expect(await podNames(stage)).toEqual(names.filter((name) => name !== fenced));
    const cluster = await present(stage);
    expect(cluster.status?.members.map(({ name }) => name)).toEqual(names);
    expect(cluster.status).toMatchObject({
      phase: "Fenced",
      fencing: { members: [{ name: fenced, state: "Stopped" }] },
      waitingFor: {
        what: `member ${fenced} is fenced; it starts on its volume when removed from spec.fencing.members`,
      },
    });
    expect(conditionOf(cluster, "Fenced")).toMatchObject({ status: "True", reason: "MembersFenced" });
    expect(conditionOf(cluster, "Degraded")).toMatchObject({
      reason: "MembersFenced",
      message: `1 of 3 members is fenced: ${fenced}`,
    });
    await world.expectQuiet();

    await release(stage);
    await world.settled();
    await expectHealthy(stage);
    expect(memberNames(stage)).toEqual(names);
    expect(await volumeOf(stage, fenced)).toBe(volume);
    expect((await present(stage)).status?.fencing).toBeUndefined();
    await expectNothingLost(world, writer);
    writer.stop();
    await world.expectQuiet();
  }),
);

test(
  "a leader hands over before it is fenced",
  scenario(902, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const leader = etcd.leader("orders") ?? "";
    const names = memberNames(stage);
    await fence(stage, [leader]);
    await world.run(minutes(1));
    expect(await podNames(stage)).toEqual(names.filter((name) => name !== leader));
    const steps = (await world.list(Event)).map(({ reason }) => reason).filter((each) => each?.match(/Leader|Fence/));
    expect(steps).toEqual(["MoveLeader", "FenceMember"]);
  }),
);

test(
  "another member that fails is healed while one is fenced, and a change of the spec waits and says so",
  scenario(903, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, size: 5 });
    const fenced = follower(stage);
    await fence(stage, [fenced]);
    await world.run(minutes(1));
    const others = await podNames(stage);
    expect(others).toHaveLength(4);
    const [ill = "", hanging = ""] = others.filter((name) => name !== stage.etcd.leader("orders"));
    world.kill(ill);
    await world.run(minutes(5));
    stage.etcd.hang(hanging);
    await world.run(minutes(5));
    expect(await podNames(stage)).toEqual(others);
    expect((await present(stage)).status?.readyMembers).toBe(4);
    await world.patch(EtcdCluster, "orders", { spec: { size: 3, version: "3.5.16" } });
    await world.run(minutes(5));
    const { status } = await present(stage);
    expect(status?.members).toHaveLength(5);
    expect(status?.currentVersion).toBe("3.4.23");
    expect(status?.waitingFor?.what).toMatch(
      / is fenced; .*; until then these steps wait: 1\. RemoveMember .*RestartMember/,
    );
    await release(stage);
    await world.settled();
    await expectHealthy(stage);
  }),
);

test(
  "fencing that would end the quorum is refused with its reason, until the user allows it, and starts no recovery",
  scenario(904, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, quorumRecovery });
    const writer = startWriter(stage);
    await world.run(seconds(10));
    const names = memberNames(stage);
    const [first = "", second = "", third = ""] = names;
    await fence(stage, [first, second]);
    await world.run(minutes(2));
    expect(await podNames(stage)).toEqual([second, third]);
    const refusal = `1 of 3 voting members would be left, and the quorum is 2; set spec.fencing.allowQuorumLoss to true to fence it anyway`;
    const refused = await present(stage);
    expect(refused.status?.fencing).toMatchObject({
      members: [{ name: first }],
      refused: [{ member: second, reason: refusal }],
    });
    expect(conditionOf(refused, "Fenced")?.message).toContain(`cannot fence "${second}": ${refusal}`);

    etcd.forgive();
    await fence(stage, [first, second], true);
    await world.run(minutes(3));
    await world.restartOperator();
    await world.run(minutes(3));
    expect(await podNames(stage)).toEqual([third]);
    expect(etcd.forced).toEqual([]);
    const lost = await present(stage);
    expect(lost.status).toMatchObject({ phase: "Fenced" });
    expect(lost.status?.quorumRecovery).toBeUndefined();
    expect(conditionOf(lost, "Degraded")?.message).toContain(`2 of 3 members are fenced: ${first}, ${second}`);
    expect(conditionOf(lost, "QuorumLost")).toMatchObject({ status: "False" });
    expect(lost.status?.waitingFor?.what).toContain(`members ${first} and ${second} are fenced`);

    await release(stage);
    await world.settled();
    await expectHealthy(stage);
    expect(memberNames(stage)).toEqual(names);
    expect(etcd.forced).toEqual([]);
    await expectNothingLost(world, writer);
    writer.stop();
  }),
);

test(
  "a majority that is lost beside a fenced member is not given up: the fenced one may bring it back",
  scenario(905, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, quorumRecovery });
    const [fenced = "", lost = "", left = ""] = memberNames(stage);
    await fence(stage, [fenced]);
    await world.run(minutes(1));
    etcd.forgive();
    await world.delete(PersistentVolumeClaim, `data-${lost}`);
    world.kill(lost);
    await world.run(minutes(5));
    expect(etcd.forced).toEqual([]);
    expect(await podNames(stage)).toEqual(expect.arrayContaining([left]));
    expect(await podNames(stage)).not.toContain(fenced);
    const { status } = await present(stage);
    expect(status?.waitingFor?.what).toContain(`member ${fenced} is fenced`);
    expect(status?.phase).toBe("Recovering");
    await release(stage);
    await world.settled({ within: minutes(10) });
    expect(etcd.forced).toEqual([]);
    expect(memberNames(stage)).toEqual(expect.arrayContaining([fenced, left]));
    await expectHealthy(stage);
  }),
);

test(
  "an unknown member is refused with the names that there are",
  scenario(906, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    const names = memberNames(stage);
    await fence(stage, ["nobody"]);
    await world.run(minutes(2));
    const cluster = await present(stage);
    const said = `cannot fence "nobody": it is not a member; members: ${names.join(", ")}`;
    expect(conditionOf(cluster, "Fenced")).toMatchObject({ status: "False", reason: "FencingRefused", message: said });
    expect(cluster.status?.waitingFor?.what).toBe(said);
    expect(await podNames(stage)).toEqual(names);
  }),
);

test(
  "members without volumes are not fenced",
  scenario(907, async (stage) => {
    await bootstrap(stage);
    await fence(stage, [follower(stage)]);
    await stage.world.run(minutes(2));
    expect(await podNames(stage)).toHaveLength(3);
    const message = conditionOf(await present(stage), "Fenced")?.message;
    expect(message).toContain("members keep their data in their pods, and would lose them");
  }),
);

test(
  "a cluster is deleted while a member is fenced",
  scenario(908, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    await fence(stage, [follower(stage)]);
    await world.run(minutes(1));
    stage.etcd.forgive();
    await world.delete(EtcdCluster, "orders");
    await world.run(minutes(2));
    expect(await world.list(EtcdCluster)).toEqual([]);
    expect(await world.list(Pod)).toEqual([]);
    expect(await world.list(PersistentVolumeClaim)).toEqual([]);
  }),
);

test(
  "a fenced member stays stopped when its cluster wakes",
  scenario(909, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const [fenced, names] = [follower(stage), memberNames(stage)];
    await fence(stage, [fenced]);
    await world.run(minutes(1));
    etcd.forgive();
    await world.patch(EtcdCluster, "orders", { spec: { hibernated: true } });
    await world.run(minutes(2));
    expect((await present(stage)).status?.phase).toBe("Hibernated");
    await world.patch(EtcdCluster, "orders", { spec: { hibernated: false } });
    await world.run(minutes(3));
    expect(await podNames(stage)).toEqual(names.filter((name) => name !== fenced));
    expect((await present(stage)).status).toMatchObject({ phase: "Fenced", readyMembers: 2 });
    await release(stage);
    await world.settled();
    await expectHealthy(stage);
  }),
);

test(
  "the Operations Fence and Unfence write the spec, wait for the member, and say why they cannot",
  scenario(910, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { plan: "small" });
    const [first = "", second = ""] = memberNames(stage);
    const end = async (name: string, type: "Fence" | "Unfence", spec: object): Promise<Operation["status"]> => {
      await world.apply(Operation({ name, spec: { instance, type, ...spec } }));
      await world.until("its end", async () => (await world.get(Operation, name)).status?.finishedAt !== undefined, {
        within: minutes(5),
      });
      return (await world.get(Operation, name)).status;
    };
    expect(await end("fence", "Fence", { member: first })).toMatchObject({ phase: "Succeeded" });
    expect((await present(stage)).spec.fencing?.members).toEqual([first]);
    expect(await podNames(stage)).not.toContain(first);
    expect(await end("no-quorum", "Fence", { member: second })).toMatchObject({
      phase: "Rejected",
      reason: "FencingRefused",
      message: expect.stringContaining("the quorum is 2"),
    });
    expect(await end("unknown", "Fence", { member: "nobody" })).toMatchObject({ phase: "Rejected" });
    expect(await end("nameless", "Unfence", {})).toMatchObject({ phase: "Rejected", reason: "MemberMissing" });
    expect(await end("unfence", "Unfence", { member: first })).toMatchObject({ phase: "Succeeded" });
    expect((await present(stage)).spec.fencing).toBeUndefined();
    await world.settled();
    await expectHealthy(stage);
    etcd.forgive();
    expect(await end("all", "Fence", { member: "*", allowQuorumLoss: true })).toMatchObject({ phase: "Succeeded" });
    expect(await podNames(stage)).toEqual([]);
    expect(await end("one", "Unfence", { member: first })).toMatchObject({ phase: "Succeeded" });
    await world.run(minutes(1));
    expect(await podNames(stage)).toEqual([first]);
    expect(await end("rest", "Unfence", { member: "*" })).toMatchObject({ phase: "Succeeded" });
    await world.settled();
    await expectHealthy(stage);
  }),
);

test(
  "consent to lose the quorum counts for the Operation that gives it, also for a member that was refused before",
  scenario(911, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { ...claims, size: 5 });
    const [a = "", b = "", c = "", d = ""] = memberNames(stage);
    const end = async (name: string, member: string, allowQuorumLoss: boolean): Promise<Operation["status"]> => {
      await world.apply(Operation({ name, spec: { instance, type: "Fence", member, allowQuorumLoss } }));
      await world.until("its end", async () => (await world.get(Operation, name)).status?.finishedAt !== undefined, {
        within: minutes(5),
      });
      return (await world.get(Operation, name)).status;
    };
    await fence(stage, [a, b, c]);
    await world.run(minutes(1));
    expect((await present(stage)).status?.fencing?.refused?.map(({ member }) => member)).toEqual([c]);
    etcd.forgive();
    expect(await end("with-consent", c, true)).toMatchObject({ phase: "Succeeded" });
    expect(await end("without", d, false)).toMatchObject({ phase: "Rejected", reason: "FencingRefused" });
    expect((await present(stage)).spec.fencing?.members).toEqual([a, b, c]);
  }),
);
