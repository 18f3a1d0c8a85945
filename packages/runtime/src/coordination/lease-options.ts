/** Equal processes agree by Leases: on one that acts, or on who acts for what. */
interface LeasesOptions {
  readonly name: string;
  readonly namespace: string;
  /** How long others wait for a silent process; default 15. */
  readonly leaseDurationSeconds?: number;
  /** How long a process that cannot renew goes on; shorter than the duration; default 10. */
  readonly renewDeadlineSeconds?: number;
  /** How often is renewed or tried; default 2. */
  readonly retryPeriodSeconds?: number;
}

/** One of several equal processes acts, the others stand by with warm caches; `name` is the Lease's. */
export interface LeaderElectionOptions extends LeasesOptions {
  /**
   * This process in events, and in the Lease, where a random suffix is added to it; default: the manager's
   * name.
   */
  readonly identity?: string;
}

/**
 * Several equal processes share the keys; see `docs/running.md`. `name` is the group's, which its Leases
 * carry as a label; while keys change hands it is looked at eight times as often.
 */
export interface ShardingOptions extends LeasesOptions {
  /**
   * What a member's share follows from: one that comes back under its old name gets its old keys. Default:
   * random.
   */
  readonly identity?: string;
  /** How long a run may go on whose key has become another's, before it is aborted; default 30. */
  readonly drainSeconds?: number;
  /** What of a key (`namespace/name`) decides about its owner; default: all of it. */
  shardBy?(key: string): string;
}
