/** The spec that a cluster follows: in a dry run the last one that was none; pure. */
import type { PostgresCluster } from "./postgres-cluster.ts";

type Spec = PostgresCluster["spec"];

export function specInForce({ spec, status }: PostgresCluster): Spec {
  if (!spec.dryRun || status?.specInForce === undefined) return spec;
  // The operator wrote it, and the server had checked it.
  return { ...(JSON.parse(status.specInForce) as Spec), dryRun: true, paused: spec.paused };
}

/** What the status keeps of a spec that is no dry run. */
export function specRecord(spec: Spec): string {
  return JSON.stringify({ ...spec, dryRun: undefined });
}
