/**
 * Measures a schedule of the simulated world: an etcd cluster of three starts, loses its leader and heals.
 * Run: node --conditions=@setpoint/source bench/simulation.ts [schedules]
 */
import { EtcdModel, simulate } from "@setpoint/testing";
import { EtcdCluster, etcdOperator } from "@setpoint/etcd-operator";
import { simulatedGateway } from "../operators/etcd/src/testing/simulated-gateway.ts";

const schedules = Number(process.argv[2] ?? "100");
/** Runs before the measurement, in which the compiler gets warm. */
const warmUps = 10;

async function runSchedule(seed: number): Promise<{ readonly requests: number; readonly virtualMs: number }> {
  const etcd = new EtcdModel();
  await using world = await simulate({
    seed,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
  });
  await world.apply(EtcdCluster({ name: "orders", spec: { size: 3, version: "3.5.16" } }));
  await world.settled();
  world.kill(etcd.leader("orders") ?? "");
  await world.settled();
  return { requests: world.trace.length, virtualMs: world.host.clock.monotonic() };
}

const milliseconds: number[] = [];
let last = { requests: 0, virtualMs: 0 };
for (let seed = 0; seed < warmUps + schedules; seed++) {
  const startedMs = performance.now();
  last = await runSchedule(seed);
  if (seed >= warmUps) milliseconds.push(performance.now() - startedMs);
}
milliseconds.sort((a, b) => a - b);
const at = (share: number): string => (milliseconds[Math.floor(milliseconds.length * share)] ?? 0).toFixed(1);
console.log(`start, loss of the leader, healing: median ${at(0.5)} ms, p99 ${at(0.99)} ms (${schedules} schedules)`);
console.log(`the last one: ${last.requests} requests in ${(last.virtualMs / 1_000).toFixed(0)} s of virtual time`);
