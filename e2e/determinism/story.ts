/**
 * A story whose every turn follows from its seed: what befalls an etcd cluster, when, and how fast its
 * operator hears of it.
 */
import { Pod } from "@setpoint/api";
import { EtcdCluster, etcdOperator } from "@setpoint/etcd-operator";
import { EtcdModel, seededRandom, simulate, type World } from "@setpoint/testing";
import { simulatedGateway } from "../../operators/etcd/src/testing/simulated-gateway.ts";

const withinMs = 900_000;
const lags = [0, 0, 200, 3_000];
const sizes = [1, 3, 5] as const;
const movesMax = 3;
const writesMax = 40;

type Dice = ReturnType<typeof seededRandom>;

const moves: readonly ((world: World, dice: Dice) => Promise<void>)[] = [
  async (world, dice) => {
    const pods = await world.list(Pod);
    const victim = pods[dice.int(pods.length)];
    if (victim?.status?.phase === "Running") world.kill(victim.metadata.name);
  },
  async (world, dice) => {
    await world.patch(EtcdCluster, "orders", { spec: { size: sizes[dice.int(sizes.length)] } });
  },
  async (world) => world.restartOperator(),
  async (world, dice) => world.crashOperatorAt(world.operatorWrites + 1 + dice.int(writesMax), "after"),
  async (world, dice) => world.loseAnswerOf(world.operatorWrites + 1 + dice.int(writesMax)),
  async (world, dice) => world.pauseOperator(dice.int(30_000)),
];

/** The hash of everything that was asked in it. */
export async function tellStory(seed: number): Promise<string> {
  const dice = seededRandom(seed);
  const etcd = new EtcdModel();
  const world = await simulate({
    seed,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
    controllers: seed % 2 === 0 ? "all" : "observed",
    watchLagMsMax: lags[dice.int(lags.length)] ?? 0,
    clocks: [{ rate: 0.9 + dice.next() / 5, offsetMs: dice.int(60_000) }],
  });
  try {
    await world.apply(
      EtcdCluster({
        name: "orders",
        spec: { size: sizes[dice.int(sizes.length)] ?? 1, version: "3.5.16", tls: { mode: "Disabled" } },
      }),
    );
    for (let count = dice.int(movesMax + 1); count > 0; count--) {
      await world.run(dice.int(5_000));
      await moves[dice.int(moves.length)]?.(world, dice);
    }
    // How it ends is not the question here, only whether it always ends so.
    const end = await world.settled({ within: withinMs }).then(
      () => "settled",
      (error: unknown) => String(error),
    );
    return `${world.traceHash()} ${end.split("\n")[0]}`;
  } finally {
    await world[Symbol.asyncDispose]();
  }
}
