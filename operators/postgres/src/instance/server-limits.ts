/**
 * Settings of which a replica cannot have less than its primary: PostgreSQL would not replay the log. They
 * are raised on replicas first, and lowered on the primary first; pure.
 */
export const serverLimits = [
  "max_connections",
  "max_locks_per_transaction",
  "max_prepared_transactions",
  "max_wal_senders",
  "max_worker_processes",
] as const;

export type ServerLimitName = (typeof serverLimits)[number];
export type ServerLimits = { readonly [Name in ServerLimitName]?: number };
type Parameters = Readonly<Record<string, string>>;

/** The parameters, with no limit below these. */
export function withLeast(parameters: Parameters, least: ServerLimits): Parameters {
  const raised = lowerThan(parameters, least).map((name) => [name, String(least[name])] as const);
  return { ...parameters, ...Object.fromEntries(raised) };
}

/** The limits that these parameters lower. A value that is no number is for PostgreSQL to refuse. */
export function lowerThan(parameters: Parameters, present: ServerLimits): readonly ServerLimitName[] {
  return serverLimits.filter((name) => {
    const value = parameters[name];
    return value !== undefined && Number(value) < (present[name] ?? 0);
  });
}
