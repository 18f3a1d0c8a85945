/** How volumes say that they belong to a restore: by the annotation that otherwise names their cluster. */
import type { EtcdCluster } from "./etcd-cluster.ts";
import { shortHash } from "./member-names.ts";

/** On a volume that a restore has set aside: its id. It stays when the volume comes back. */
export const setAsideBy = "etcd.setpoint.dev/set-aside-by";

/** The first member on restored data. */
export function seedName({ metadata: { name = "", uid = "" } }: EtcdCluster, restoreId: string): string {
  return `${name}-${shortHash(`${uid}/restore/${restoreId}`)}`;
}

/** On a volume that is being prepared, and that no member may use yet. */
export function preparedFor(clusterUid: string, restoreId: string): string {
  return `${clusterUid}/restore-${restoreId}`;
}

/** On a volume from before a restore in place. */
export function beforeRestore(clusterUid: string): string {
  return `${clusterUid}/before-restore`;
}
