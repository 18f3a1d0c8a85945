import type { Volume } from "@setpoint/api";
import { noHostRights, type Refusal } from "../cluster/refusal.ts";

/** The types of volumes that this node mounts. */
const types: readonly (keyof Volume)[] = [
  "configMap",
  "downwardAPI",
  "emptyDir",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

export const volumeRefusals: readonly Refusal<Volume>[] = [
  { field: "hostPath", ...noHostRights, isAsked: ({ hostPath }) => hostPath !== undefined },
  {
    field: "emptyDir.medium",
    reason: "this node has the media Memory and its disk",
    isAsked: ({ emptyDir }) => !["", "Memory"].includes(emptyDir?.medium ?? ""),
  },
];

/** The mount of such a volume fails by itself. */
export const unknownType: Refusal<Volume> = {
  field: "a type of volume",
  reason: `this node mounts ${types.join(", ")}`,
  isAsked: (volume) => volume.hostPath === undefined && !types.some((type) => volume[type] !== undefined),
};

/** Whether this node never mounts the volume. A container of a pod that has such a volume is not started. */
export function isRefusedVolume(volume: Volume, allowHost: boolean): boolean {
  return volumeRefusals.some((refusal) => !(allowHost && refusal.needsHost === true) && refusal.isAsked(volume));
}
