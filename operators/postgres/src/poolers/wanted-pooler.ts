/** What the pods of a pooler should be; pure. */
import type { Stored } from "setpoint";
import type { DesiredPooler } from "../instance/pooler-protocol.ts";
import { instanceHost } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import type { PostgresPooler } from "./postgres-pooler.ts";

/** An operator that is gone for longer holds nobody up; one that was killed is back sooner. */
const pauseMs = 20_000;

/** The change of the primary for which clients wait: before it, and until the new one accepts writes. */
export function pauseOf(pooler: PostgresPooler, { status }: Stored<PostgresCluster>): string | undefined {
  if (pooler.spec.target !== "primary") return undefined;
  const { pausing, handover, formerPrimary, term = 0 } = status ?? {};
  if (handover !== undefined || formerPrimary !== undefined) return String(term);
  return pausing?.for;
}

export function wantedPooler(pooler: PostgresPooler, cluster: Stored<PostgresCluster>): DesiredPooler | undefined {
  const host = hostOf(pooler, cluster);
  const { poolMode, parameters } = pooler.spec;
  const settings = { poolMode, parameters };
  const isPaused = pauseOf(pooler, cluster) !== undefined;
  return host === undefined
    ? undefined
    : { term: cluster.status?.term ?? 0, host, settings, ...(isPaused ? { pauseMs } : {}) };
}

/** Between two primaries, clients wait with the host of the one before. */
function hostOf({ spec, status }: PostgresPooler, cluster: Stored<PostgresCluster>): string | undefined {
  const { name, namespace } = cluster.metadata;
  if (spec.target === "replicas") return `${name}-ro.${namespace}.svc`;
  const { primary } = cluster.status ?? {};
  return primary === undefined ? status?.host : instanceHost(primary, cluster);
}
