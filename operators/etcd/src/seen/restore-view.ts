import type { RestoreMark } from "@setpoint/data-service";
import type { PersistentVolumeClaim } from "setpoint/kinds";

/** The volumes of a cluster by what a restore makes of them. */
export interface RestoreView {
  readonly mark: RestoreMark | undefined;
  /** Has the restored data, and is nobody's yet. */
  readonly prepared: readonly PersistentVolumeClaim[];
  /** Set aside by the restore that `mark` names. */
  readonly before: readonly PersistentVolumeClaim[];
  /** Set aside by earlier ones. */
  readonly older: readonly PersistentVolumeClaim[];
  /** In use: those whose members make the cluster. */
  readonly current: readonly PersistentVolumeClaim[];
  /** Of those in use, the ones with data of the restore that `mark` names. */
  readonly restored: readonly PersistentVolumeClaim[];
}

/** Whether a restore stops members or exchanges their volumes now. */
export function isRestoring({ mark, prepared, before, restored }: RestoreView): boolean {
  if (mark?.state === "start") return prepared.length > 0;
  if (mark?.state === "back") return before.length > 0 || restored.length > 0;
  return mark?.state === "waiting" || mark?.state === "stop";
}
