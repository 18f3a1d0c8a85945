import type { Volume } from "@setpoint/api";
import { noHostRights, type Refusal } from "../cluster/refusal.ts";

export const volumeRefusals: readonly Refusal<Volume>[] = [
  { field: "hostPath", reason: noHostRights, isAsked: ({ hostPath }) => hostPath !== undefined },
  {
    field: "emptyDir.medium",
    reason: "this node has the media Memory and its disk",
    isAsked: ({ emptyDir }) => !["", "Memory"].includes(emptyDir?.medium ?? ""),
  },
];

/** Whether this node never mounts the volume. A container of a pod that has such a volume is not started. */
export function isRefusedVolume(volume: Volume): boolean {
  return volumeRefusals.some((refusal) => refusal.isAsked(volume));
}
