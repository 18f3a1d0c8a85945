/**
 * How much a controller may change before a person has to check it: the blast radius of a bad release or of a
 * wrong selector. Each process counts for each cluster, and starts at zero. Writes by `context.client` are
 * not counted.
 */
export interface WriteLimits {
  /**
   * Objects deleted in a minute by all runs of the controller in this process; more wait. Default: no limit.
   */
  readonly deletesPerMinute?: number;
  /**
   * The share of all its children (0 to 1) that the controller may change or delete in ten minutes; more
   * wait. Making new ones does not count, and five changes are always allowed. Default: no limit.
   */
  readonly childrenChangedShare?: number;
  /**
   * Runs of one key in a minute for which no change but the controller's own gave a reason; more are slowed
   * down. Default 120; `Number.POSITIVE_INFINITY` turns it off.
   */
  readonly idleRunsPerMinute?: number;
}

/** Set to "true" on an object it lets the writes of its reconcile pass the limits. */
export const allowWritesAnnotation = "setpoint.dev/allow-writes";
