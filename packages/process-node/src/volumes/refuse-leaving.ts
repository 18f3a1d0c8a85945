import type { PersistentVolumeClaim, Pod } from "@setpoint/api";
import { nodeError } from "../errors.ts";

/** No pod is started on a claim that is being deleted, as upstream; one that runs keeps it until it ends. Throws. */
export function refuseLeaving({ metadata }: PersistentVolumeClaim, pod: Pod): void {
  if (metadata.deletionTimestamp === undefined || pod.status?.phase === "Running") return;
  throw nodeError("ERR_CONTAINER_CONFIG", `persistentvolumeclaim "${metadata.name ?? ""}" is being deleted`);
}
