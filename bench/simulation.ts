/**
 * Measures a schedule of the simulated world: an etcd cluster of three starts, loses its leader and heals.
 * The figures are CPU time of this process (on a machine that others use, too, the time of day says little),
 * for one core. It runs in a thread like those of the explorer, with the same room for short-lived objects.
 * Run: node --conditions=@setpoint/source bench/simulation.ts [schedules]
 */
import { setFlagsFromString } from "node:v8";
import { isMainThread, Worker } from "node:worker_threads";
import { EtcdModel, simulate } from "@setpoint/testing";
import { EtcdCluster, etcdOperator } from "@setpoint/etcd-operator";
import { simulatedGateway } from "../operators/etcd/src/testing/simulated-gateway.ts";

const schedules = Number(process.argv[2] ?? "200");
/**
 * Runs between the first figures and the last, in which the compiler gets warm: an exploration runs a hundred
 * thousand schedules in a process, a test a few.
 */
const warmUps = 1_000;

interface Run {
  readonly requests: number;
  readonly virtualMs: number;
}

/** `observed`: without the controllers whose work no operator may see, as the explorer runs them. */
async function runSchedule(seed: number, controllers: "all" | "observed"): Promise<Run> {
  const etcd = new EtcdModel();
  await using world = await simulate({
    seed,
    controllers,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
  });
  const startMs = world.host.clock.monotonic();
  await world.apply(EtcdCluster({ name: "orders", spec: { size: 3, version: "3.5.16", tls: { mode: "Disabled" } } }));
  await world.settled();
  world.kill(etcd.leader("orders") ?? "");
  await world.settled();
  return { requests: world.trace.length, virtualMs: world.host.clock.monotonic() - startMs };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function measure(controllers: "all" | "observed"): Promise<void> {
  const cold = await sample(0, controllers);
  for (let seed = schedules; seed < warmUps; seed++) await runSchedule(seed, controllers);
  const warm = await sample(warmUps, controllers);
  console.log(`start, loss of the leader, healing, ${controllers} controllers, ${schedules} schedules each:`);
  console.log(`  the first: ${cold.text}`);
  console.log(`  after ${warmUps}: ${warm.text}`);
  const { requests, virtualMs } = warm.last;
  console.log(`  the last one: ${requests} requests in ${(virtualMs / 1_000).toFixed(0)} s of virtual time`);
}

async function sample(
  seedFirst: number,
  controllers: "all" | "observed",
): Promise<{ readonly text: string; readonly last: Run }> {
  const cpu: number[] = [];
  const wall: number[] = [];
  let last: Run = { requests: 0, virtualMs: 0 };
  for (let seed = seedFirst; seed < seedFirst + schedules; seed++) {
    const [cpuBefore, wallBefore] = [cpuMs(), performance.now()];
    last = await runSchedule(seed, controllers);
    cpu.push(cpuMs() - cpuBefore);
    wall.push(performance.now() - wallBefore);
  }
  const at = (values: readonly number[], share: number): string =>
    (values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0).toFixed(1);
  const perSecond = (1_000 * schedules) / cpu.reduce((sum, each) => sum + each, 0);
  const text =
    `CPU median ${at(cpu, 0.5)} ms, p99 ${at(cpu, 0.99)} ms, ${perSecond.toFixed(0)} a second and core; ` +
    `wall median ${at(wall, 0.5)} ms, p99 ${at(wall, 0.99)} ms`;
  return { text, last };
}

if (isMainThread) {
  setFlagsFromString("--min-semi-space-size=64");
  setFlagsFromString("--no-allocation-site-pretenuring");
  const argv = process.argv.slice(2);
  const worker = new Worker(new URL(import.meta.url), { argv, resourceLimits: { maxYoungGenerationSizeMb: 192 } });
  worker.on("error", (error) => {
    throw error;
  });
} else {
  await measure("all");
  await measure("observed");
}
