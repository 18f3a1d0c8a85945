import type { CacheOptions, ClusterProvider, HealthOptions, Manager } from "@setpoint/runtime";

/** The times of the Leases by which replicas agree. */
export interface LeaseTimes {
  /** How long others wait for a silent process; default 15. */
  readonly leaseDurationSeconds?: number;
  /** How long a process that cannot renew goes on; shorter than the duration; default 10. */
  readonly renewDeadlineSeconds?: number;
  /** How often the Lease is renewed or tried; default 2. */
  readonly retryPeriodSeconds?: number;
}

/**
 * How an operator's manager works, wherever it is started: by `setpoint run`, by its Deployment, in a
 * simulated world. What differs from place to place is an option of the command.
 */
export interface RunSettings {
  /** What is cached of each kind, and how: selections, metadata alone, transforms, indexes. */
  readonly caches?: Omit<CacheOptions, "freeze">;
  /** The clusters in which the controllers work; default: the one of the process. */
  readonly clusters?: ClusterProvider;
  readonly health?: HealthOptions;
  readonly lease?: LeaseTimes;
  /** Called once with the manager when it has started: for pushes from outside, or further informers. */
  started?(this: void, manager: Manager): void;
}
