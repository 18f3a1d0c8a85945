/**
 * The kinds that ResourceQuotas count from the caches of the controller manager, which holds most of them for
 * other controllers. All others are counted on the server: Secrets and ConfigMaps are many and large, and a
 * custom resource may be defined at any time.
 */
import {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
} from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";

export const cachedKinds: readonly KindRef<KubeObject>[] = [
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
];

/** The kind of this resource, if it is in a cache. */
export function findCached(group: string, resource: string): KindRef<KubeObject> | undefined {
  return cachedKinds.find((kind) => kind.group === group && kind.plural === resource);
}
