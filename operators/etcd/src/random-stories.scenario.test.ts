/**
 * Stories that a seed makes up: users, power cuts, late watches and a crashing operator, at random moments.
 */
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { EtcdModel, EtcdWriter, seededRandom, simulate, type World } from "setpoint/testing";
import { minutes, type ReconcileContext, seconds } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
const movesMax = 10;
const faults = 3;
/** A start and a few changes make about so many writes. */
const writesMax = 80;

interface Story {
  readonly world: World;
  readonly etcd: EtcdModel;
  readonly dice: ReconcileContext["host"]["random"];
  /** What was done, for a failure. */
  readonly log: string[];
}

function pick<T>(dice: ReconcileContext["host"]["random"], choices: readonly T[]): T | undefined {
  return choices[dice.int(choices.length)];
}

/** Everything here leaves the volumes, so nothing that was acknowledged may ever be lost. */
const moves: readonly ((story: Story) => Promise<string>)[] = [
  async ({ world, etcd, dice }) => {
    const victim = pick(dice, etcd.members("orders"))?.name;
    if (victim !== undefined) world.kill(victim);
    return `kill ${victim}`;
  },
  async ({ world, dice }) => {
    const pod = pick(dice, await world.list(Pod))?.metadata.name;
    if (pod !== undefined) await world.delete(Pod, pod);
    return `delete pod ${pod}`;
  },
  async ({ world, dice }) => {
    const size = pick(dice, [1, 3, 5]);
    await world.patch(EtcdCluster, "orders", { spec: { size } });
    return `size ${size}`;
  },
  async ({ world }) => {
    await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
    return "upgrade";
  },
  async ({ world }) => {
    world.killAll();
    return "power cut";
  },
  async ({ world }) => {
    await world.restartOperator();
    return "restart the operator";
  },
];

function plantFaults({ world, dice, log }: Story): void {
  for (let count = 0; count < faults; count++) {
    const write = 1 + dice.int(writesMax);
    const kind = pick(dice, ["before", "after", "lose"] as const) ?? "lose";
    if (kind === "lose") world.loseAnswerOf(write);
    else world.crashOperatorAt(write, kind);
    log.push(`fault at write ${write}: ${kind}`);
  }
}

async function tell(story: Story): Promise<void> {
  const { world, etcd, dice, log } = story;
  const storage = { resources: { requests: { storage: "1Gi" } } };
  await world.apply(
    EtcdCluster({
      name: "orders",
      spec: { version: "3.4.23", tls: { mode: "Disabled" }, volumeClaimTemplate: storage },
    }),
  );
  plantFaults(story);
  const writer = new EtcdWriter({ model: etcd, host: world.host, cluster: "orders" });
  for (let count = dice.int(movesMax); count >= 0; count--) {
    await world.run(dice.int(pick(dice, [50, 500, seconds(3), seconds(20)]) ?? 0));
    log.push((await pick(dice, moves)?.(story)) ?? "");
  }
  await world.settled({ within: minutes(15) });
  const { spec, status } = await world.get(EtcdCluster, "orders");
  expect(status).toMatchObject({ phase: "Running", readyMembers: spec.size, currentVersion: spec.version });
  expect((await world.list(Pod)).length).toBe(spec.size);
  expect((await world.list(PersistentVolumeClaim)).length).toBe(spec.size);
  expect((await world.wait(writer.check())).lost).toEqual([]);
  writer.stop();
  await world.expectQuiet({ hours: 0.5 });
}

test.each(seeds)("story %i ends well, and loses nothing", async (seed) => {
  const dice = seededRandom(seed);
  const etcd = new EtcdModel();
  await using world = await simulate({
    seed,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
    watchLagMsMax: pick(dice, [0, 50, seconds(1), seconds(5)]) ?? 0,
    leaderElection: dice.int(4) === 0,
  });
  const log: string[] = [];
  await tell({ world, etcd, dice, log }).catch((cause: unknown) => {
    throw new Error(`After ${log.join(", ")}: ${(cause as Error).message}`, { cause });
  });
});
