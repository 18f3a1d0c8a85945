/** The operator in the simulated world. Every scenario runs twice from its seed, and both runs must be the same. */
import { PersistentVolumeClaim, Pod, Service } from "@setpoint/api";
import { conditionOf, EtcdModel, EtcdWriter, simulate, type World } from "@setpoint/testing";
import { minutes, seconds } from "setpoint";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

interface Stage {
  readonly world: World;
  readonly etcd: EtcdModel;
}

async function setUp(seed: number): Promise<Stage> {
  const etcd = new EtcdModel();
  const world = await simulate({
    seed,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
  });
  return { world, etcd };
}

/** Runs a story twice from one seed; a world has no other source of chance. */
function scenario(seed: number, story: (stage: Stage) => Promise<void>): () => Promise<void> {
  const run = async (): Promise<string> => {
    const stage = await setUp(seed);
    await using world = stage.world;
    await story(stage);
    return world.traceHash();
  };
  return async () => expect(await run()).toBe(await run());
}

type Spec = Partial<EtcdCluster["spec"]>;

function cluster(name: string, spec: Spec = {}): EtcdCluster {
  return EtcdCluster({ name, spec: { size: 3, version: "3.4.23", ...spec } });
}

const claims = {
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
} satisfies Spec;

/** The status of the one cluster of a story, which must be as its spec says and healthy. */
async function expectHealthy({ world, etcd }: Stage, name: string): Promise<void> {
  const present = await world.get(EtcdCluster, name);
  const { size, version } = present.spec;
  expect(present.status).toMatchObject({
    phase: "Running",
    size,
    readyMembers: size,
    currentVersion: version,
    targetVersion: version,
  });
  expect(present.status?.members.every(({ healthy }) => healthy)).toBe(true);
  expect(conditionOf(present, "Available")?.status).toBe("True");
  expect(conditionOf(present, "Degraded")?.status).toBe("False");
  expect(present.status?.leader).toBe(etcd.leader(name));
  expect((await world.list(Pod)).map(({ metadata }) => metadata.name).sort()).toEqual(
    present.status?.members.map((each) => each.name),
  );
  if (present.spec.volumeClaimTemplate !== undefined)
    expect((await world.list(PersistentVolumeClaim)).length).toBe(size);
}

function startWriter({ world, etcd }: Stage, name: string): EtcdWriter {
  return new EtcdWriter({ model: etcd, host: world.host, cluster: name });
}

/** Nothing that was acknowledged may be missing. */
async function expectNothingLost(world: World, writer: EtcdWriter): Promise<void> {
  const report = await world.wait(writer.check());
  expect(report.lost).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(20);
}

async function bootstrap(stage: Stage, spec: Spec = {}): Promise<void> {
  await stage.world.apply(cluster("orders", spec));
  await stage.world.settled();
}

function memberNames({ etcd }: Stage): readonly string[] {
  return etcd
    .members("orders")
    .map(({ name }) => name)
    .sort();
}

describe("a cluster", () => {
  test(
    "of three members starts",
    scenario(1, async (stage) => {
      await bootstrap(stage);
      await expectHealthy(stage, "orders");
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
      await expectHealthy(stage, "orders");
      await stage.world.expectQuiet();
    }),
  );

  test(
    "grows and shrinks by learners, one at a time, and never loses its leader",
    scenario(3, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const writer = startWriter(stage, "orders");
      await world.patch(EtcdCluster, "orders", { spec: { size: 5 } });
      await world.settled();
      await expectHealthy(stage, "orders");
      const leader = etcd.leader("orders");
      await world.patch(EtcdCluster, "orders", { spec: { size: 3 } });
      await world.settled();
      await expectHealthy(stage, "orders");
      expect(etcd.leader("orders")).toBe(leader);
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
    }),
  );

  test(
    "is upgraded member by member, the leader last",
    scenario(4, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const writer = startWriter(stage, "orders");
      const leader = etcd.leader("orders");
      const before = memberNames(stage);
      await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
      await world.settled();
      await expectHealthy(stage, "orders");
      expect(lastUpgraded(world)).toBe(leader);
      expect(memberNames(stage)).toEqual(before);
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
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
      await world.until("its pod is made anew", isBack);
      await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
      // Any stop that takes away the majority is a violation, with which no world settles.
      await world.settled();
      await expectHealthy(stage, "orders");
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
      await expectHealthy(stage, "orders");
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

/** The member whose pod was patched last. */
function lastUpgraded(world: World): string | undefined {
  return world.trace.flatMap((line) => /etcd +PATCH default\/pods\/([^/ ]+) → 200/.exec(line)?.[1] ?? []).at(-1);
}

describe("healing", () => {
  test.each([
    ["on a claim", claims],
    ["on an emptyDir", {}],
  ] as const)("a dead follower %s is replaced", (_, spec) =>
    scenario(11, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, spec);
      const writer = startWriter(stage, "orders");
      await world.run(seconds(10));
      const victim = memberNames(stage).find((name) => name !== etcd.leader("orders")) ?? "";
      world.kill(victim);
      await world.settled();
      await expectHealthy(stage, "orders");
      expect(memberNames(stage)).not.toContain(victim);
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
    })(),
  );

  test(
    "a dead leader costs no acknowledged write",
    scenario(12, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, claims);
      const writer = startWriter(stage, "orders");
      await world.run(seconds(10));
      const leader = etcd.leader("orders") ?? "";
      world.kill(leader);
      await world.settled();
      await expectHealthy(stage, "orders");
      expect(memberNames(stage)).not.toContain(leader);
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
    }),
  );

  test(
    "a member that hangs is replaced after a minute",
    scenario(18, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const writer = startWriter(stage, "orders");
      const [victim = ""] = memberNames(stage);
      stage.etcd.hang(victim);
      await world.run(seconds(50));
      expect((await world.get(EtcdCluster, "orders")).status?.members.map(({ name }) => name)).toContain(victim);
      await world.settled();
      await expectHealthy(stage, "orders");
      expect(memberNames(stage)).not.toContain(victim);
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
    }),
  );

  test(
    "a pod that somebody deletes comes back on its volume",
    scenario(13, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const before = memberNames(stage);
      const writer = startWriter(stage, "orders");
      await world.delete(Pod, before[1] ?? "");
      await world.settled();
      await expectHealthy(stage, "orders");
      expect(memberNames(stage)).toEqual(before);
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
    }),
  );

  test(
    "a power cut of all nodes loses nothing that is on volumes",
    scenario(14, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const writer = startWriter(stage, "orders");
      await world.run(seconds(10));
      world.killAll();
      await world.settled();
      await expectHealthy(stage, "orders");
      await expectNothingLost(world, writer);
      writer.stop();
      await world.expectQuiet();
    }),
  );

  test(
    "a cluster that has lost all its data is never started empty",
    scenario(15, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage);
      world.killAll();
      await world.run(minutes(10));
      const present = await world.get(EtcdCluster, "orders");
      expect(conditionOf(present, "Degraded")).toMatchObject({ status: "True", reason: "NoQuorum" });
      expect(conditionOf(present, "Available")).toMatchObject({ status: "False" });
      expect(etcd.members("orders")).toEqual([]);
      await world.expectQuiet();
    }),
  );

  test(
    "a member that dies during the first start does not stop it",
    scenario(16, async (stage) => {
      const { world, etcd } = stage;
      await world.apply(cluster("orders"));
      await world.until("a member runs", () => etcd.members("orders").length > 0);
      world.kill(memberNames(stage)[0] ?? "");
      await world.settled();
      await expectHealthy(stage, "orders");
      await world.expectQuiet();
    }),
  );

  test(
    "a member that dies when the others have a leader, before the operator knows, does not stop the first start",
    scenario(17, async (stage) => {
      const { world, etcd } = stage;
      await world.apply(cluster("orders"));
      await world.until("a leader is there", () => etcd.leader("orders") !== undefined);
      world.stopOperator();
      world.kill(etcd.leader("orders") ?? "");
      await world.run(seconds(5));
      await world.restartOperator();
      await world.settled();
      await expectHealthy(stage, "orders");
      await world.expectQuiet();
    }),
  );
});

test(
  "a wall clock that jumps gives no member up",
  scenario(27, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    const before = memberNames(stage);
    const follower = before.find((name) => name !== etcd.leader("orders")) ?? "";
    // Its restart, in place, is short; but it is silent when the clock jumps.
    await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
    await world.until("a member is silent", async () =>
      ((await world.get(EtcdCluster, "orders")).status?.members ?? []).some(({ healthy }) => !healthy),
    );
    world.jumpOperatorClock(3_600_000);
    await world.settled();
    expect(memberNames(stage)).toEqual(before);
    expect(memberNames(stage)).toContain(follower);
    await expectHealthy(stage, "orders");
  }),
);

test(
  "a member that fails as soon as it starts is started again with pauses",
  scenario(28, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, { ...claims, size: 1 });
    const [only] = await world.list(Pod);
    await world.patch(EtcdCluster, "orders", { spec: { size: 3 } });
    await world.until("a second member is there", async () => (await world.list(Pod)).length > 1);
    world.failNode(only?.spec?.nodeName ?? "");
    const from = world.trace.length;
    await world.run(minutes(2));
    const deletions = world.trace.slice(from).filter((line) => /etcd +DELETE default\/pods/.test(line));
    expect(deletions.length).toBeLessThan(20);
    await world.recoverNode(only?.spec?.nodeName ?? "");
    await world.settled({ within: minutes(10) });
    await expectHealthy(stage, "orders");
  }),
);

describe("what people do by hand", () => {
  test(
    "labels of a pod or a volume that somebody edits are put back, and foreign ones stay",
    scenario(23, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const [name = ""] = memberNames(stage);
      const edit = { metadata: { labels: { "etcd.setpoint.dev/cluster": "other", team: "data" } } };
      await world.patch(Pod, name, edit);
      await world.patch(PersistentVolumeClaim, `data-${name}`, edit);
      await world.settled();
      const wanted = { "etcd.setpoint.dev/cluster": "orders", "etcd.setpoint.dev/member": name, team: "data" };
      expect((await world.get(Pod, name)).metadata.labels).toEqual(wanted);
      expect((await world.get(PersistentVolumeClaim, `data-${name}`)).metadata.labels).toEqual(wanted);
      await expectHealthy(stage, "orders");
      await world.expectQuiet();
    }),
  );

  test(
    "a pod whose member label somebody edits is still known by its name",
    scenario(24, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const before = memberNames(stage);
      await world.patch(Pod, before[1] ?? "", { metadata: { labels: { "etcd.setpoint.dev/member": "nobody" } } });
      await world.settled();
      expect(memberNames(stage)).toEqual(before);
      await expectHealthy(stage, "orders");
    }),
  );

  test(
    "a claim that is deleted before its pod has ever started is made again",
    scenario(25, async (stage) => {
      const { world } = stage;
      await world.apply(cluster("orders", claims));
      await world.until("a claim is there", async () => (await world.list(PersistentVolumeClaim)).length > 0);
      const [claim] = await world.list(PersistentVolumeClaim);
      await world.delete(PersistentVolumeClaim, claim?.metadata.name ?? "");
      await world.settled();
      await expectHealthy(stage, "orders");
      await world.expectQuiet();
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

describe("a spec that cannot be had", () => {
  test(
    "a downgrade is refused when it is asked for, and changes nothing",
    scenario(21, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { version: "3.5.16" });
      const before = memberNames(stage);
      await expect(world.patch(EtcdCluster, "orders", { spec: { version: "3.4.23" } })).rejects.toThrow(
        "spec.version: Invalid value: members run a newer version, and etcd cannot be downgraded",
      );
      await world.run(minutes(2));
      expect(memberNames(stage)).toEqual(before);
      await world.expectQuiet();
      await expectHealthy(stage, "orders");
    }),
  );

  test(
    "a Service name that is taken is said, and used when it is free",
    scenario(22, async (stage) => {
      const { world } = stage;
      await world.apply(Service({ name: "orders-client", spec: { ports: [{ port: 80 }] } }));
      await world.apply(cluster("orders"));
      await world.run(minutes(2));
      expect(conditionOf(await world.get(EtcdCluster, "orders"), "Degraded")).toMatchObject({
        status: "True",
        reason: "ServiceNameTaken",
      });
      expect(await world.list(Pod)).toEqual([]);
      await world.expectQuiet();
      await world.delete(Service, "orders-client");
      await world.settled();
      await expectHealthy(stage, "orders");
    }),
  );
});

/** Starts a cluster, loses its leader and heals: what the faults below strike at each write. */
async function startAndHeal(stage: Stage): Promise<void> {
  const { world, etcd } = stage;
  await world.apply(cluster("orders", claims));
  await world.settled({ within: minutes(5) });
  const writer = startWriter(stage, "orders");
  await world.run(seconds(5));
  world.kill(etcd.leader("orders") ?? "");
  await world.settled({ within: minutes(5) });
  await expectHealthy(stage, "orders");
  await expectNothingLost(world, writer);
  writer.stop();
  await world.expectQuiet({ hours: 0.25 });
}

/** How often the operator writes without any fault. */
async function countWrites(seed: number): Promise<number> {
  const stage = await setUp(seed);
  await using world = stage.world;
  await startAndHeal(stage);
  return world.operatorWrites;
}

describe("a start and a replacement", () => {
  const seed = 31;
  const strikes = {
    "a crash before": (world: World, write: number) => world.crashOperatorAt(write, "before"),
    "a crash after": (world: World, write: number) => world.crashOperatorAt(write, "after"),
    "a lost answer of": (world: World, write: number) => world.loseAnswerOf(write),
  };

  test.each(Object.entries(strikes))("survive %s each write of the operator", async (what, strike) => {
    const writes = await countWrites(seed);
    expect(writes).toBeGreaterThan(20);
    const run = async (write: number): Promise<string> => {
      const stage = await setUp(seed);
      await using world = stage.world;
      strike(world, write);
      await startAndHeal(stage).catch((cause: unknown) => {
        throw new Error(`${what} write ${write} of ${writes} is not survived: ${(cause as Error).message}`, { cause });
      });
      return world.traceHash();
    };
    for (let write = 1; write <= writes; write++)
      expect(await run(write), `${what} write ${write}`).toBe(await run(write));
  });
});
