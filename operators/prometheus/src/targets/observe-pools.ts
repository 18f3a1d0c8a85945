/** Asks one ready pod of each shard of a Prometheus for its targets. */
import type { Stored } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { PoolGateway } from "../observe/pool-gateway.ts";
import { isReady } from "../observe/ready-pods.ts";
import type { PoolReport } from "../reload/pool-report.ts";
import { labels } from "../workload/names.ts";

/** Entries of one object that are asked for. */
const poolsMax = 10;
const failuresMax = 3;

export interface SeenPools {
  readonly pools: ReadonlyMap<string, PoolReport>;
  /** Why one is missing. */
  readonly silence?: string;
}

/**
 * `pods` are those of the Prometheus. Pods of one shard have the same targets, those of a DaemonSet each
 * their own.
 */
export async function observePools(
  pods: readonly Stored<Pod>[],
  names: readonly string[],
  gateway: PoolGateway,
  signal: AbortSignal,
): Promise<SeenPools> {
  const shards = Map.groupBy(
    pods.filter(canAnswer),
    ({ metadata }) => metadata.labels?.[labels.shard] ?? metadata.name,
  );
  const addresses = [...shards.values()].flatMap(([pod]) => pod?.status?.podIP ?? []);
  if (addresses.length === 0)
    return { pools: new Map(), silence: "no pod of Prometheus is ready, which could be asked" };
  const pools = new Map<string, PoolReport>();
  for (const name of names.slice(0, poolsMax)) {
    const answers = await Promise.allSettled(addresses.map((address) => gateway(address, name, signal)));
    signal.throwIfAborted();
    const reports = answers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    if (reports.length < addresses.length) return { pools, silence: "the sidecar config-reloader does not answer" };
    pools.set(name, reports.reduce(sum));
  }
  return { pools };
}

function sum(a: PoolReport, b: PoolReport): PoolReport {
  return {
    active: a.active + b.active,
    up: a.up + b.up,
    unknown: a.unknown + b.unknown,
    failures: [...a.failures, ...b.failures].slice(0, failuresMax),
  };
}

function canAnswer(pod: Stored<Pod>): boolean {
  return pod.metadata.deletionTimestamp === undefined && isReady(pod);
}
