import type { ManagerOptions } from "@setpoint/runtime";
import type { Operator } from "./operator.ts";

/** How the replicas of an operator get along: one leads, or all share the keys. Their Leases are in `namespace`. */
export function tenureOptions(
  { name, isSharded }: Operator,
  namespace: string,
  identity: string | undefined,
): Pick<ManagerOptions, "leaderElection" | "sharding"> {
  const lease = { name, namespace, ...(identity === undefined ? {} : { identity }) };
  return isSharded ? { sharding: lease } : { leaderElection: lease };
}
