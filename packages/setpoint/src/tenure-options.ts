import type { ManagerOptions } from "@setpoint/runtime";
import type { Operator } from "./operator.ts";
import type { LeaseTimes } from "./run-settings.ts";

/**
 * How the replicas of an operator get along: one leads, or all share the keys. Their Leases are in
 * `namespace`.
 */
export function tenureOptions(
  { name, isSharded, run = {} }: Operator,
  namespace: string,
  identity: string | undefined,
  times: LeaseTimes = {},
): Pick<ManagerOptions, "leaderElection" | "sharding"> {
  const lease = { name, namespace, ...run.lease, ...times, ...(identity === undefined ? {} : { identity }) };
  return isSharded ? { sharding: lease } : { leaderElection: lease };
}
