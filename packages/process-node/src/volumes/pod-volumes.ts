import type { Pod } from "@setpoint/api";
import type { PodIds } from "../host/id-range.ts";

export interface PreparedVolume {
  /** A folder or file of the host. */
  readonly source: string;
  readonly readOnly: boolean;
  /** See `Mount.ownIds`. */
  readonly ownIds?: boolean;
  /** See `Mount.hasDevices`. */
  readonly hasDevices?: boolean;
}

export interface PodVolumes {
  /**
   * Volume name → its folder, owned by the pod's ids when they are given. Throws when something that it needs
   * is missing.
   */
  prepare(pod: Pod, ids?: PodIds): Promise<ReadonlyMap<string, PreparedVolume>>;
  /** Updates the content of config, secret and projected volumes. */
  refresh(pod: Pod): Promise<void>;
  /** Removes the content of the pod's volumes, except persistent ones. */
  empty(podUid: string): Promise<void>;
  /** Removes everything but persistent volumes. */
  remove(podUid: string): Promise<void>;
}
