import type { PersistentVolumeClaim, Pod } from "@setpoint/api";
import { nodeError } from "../errors.ts";

/** Throws for a claim that is being deleted, unless the pod already runs, as upstream does. */
export function refuseLeaving({ metadata }: PersistentVolumeClaim, pod: Pod): void {
  if (metadata.deletionTimestamp === undefined || pod.status?.phase === "Running") return;
  throw nodeError("ERR_CONTAINER_CONFIG", `persistentvolumeclaim "${metadata.name ?? ""}" is being deleted`);
}
