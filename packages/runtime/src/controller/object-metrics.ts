import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/**
 * Gauges of each object of a controller. They are read from the cache at each scrape, and gone with the
 * object.
 */
export interface ObjectMetrics<T extends KubeObject = KubeObject> {
  /**
   * What each gauge measures, by its full name. `HELP` of the exposed metrics. Names follow Prometheus'
   * rules, with a unit at the end: `etcd_cluster_members`, `etcd_cluster_last_backup_age_seconds`.
   */
  readonly gauges: Readonly<Record<string, string>>;
  /** The values of one object; a gauge that is left out has no value. Throws nothing. */
  values(this: void, object: Stored<T>, nowMs: number): Readonly<Record<string, number | undefined>>;
}
