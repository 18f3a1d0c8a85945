/** The phases of a restore in their order, and what each of them does; pure. */
import type { Stored } from "setpoint";
import type { PlannedStep } from "../kinds/planned-step.ts";
import type { Restore } from "../kinds/restore.ts";
import { targetName } from "./restore-phase.ts";
import { hasReplay } from "./restore-target.ts";
import { safetyBackupName } from "./seen-restore.ts";

export type RestorePhase = NonNullable<Restore["status"]>["phase"];

/** The present instance is stopped only after the source is verified and the present data are safe. */
const inPlace = ["Verifying", "SavingPresent", "Stopping", "Preparing", "Starting"] as const;
const newInstance = ["Verifying", "Preparing", "Starting"] as const;
type OrderedPhase = (typeof inPlace)[number];

function orderOf({ spec }: Restore): readonly OrderedPhase[] {
  return spec.newInstance === undefined ? inPlace : newInstance;
}

/** The phase that begins when this one has succeeded. */
export function phaseAfter(restore: Restore, phase: RestorePhase): RestorePhase {
  const order: readonly RestorePhase[] = orderOf(restore);
  return order[order.indexOf(phase) + 1] ?? "Succeeded";
}

/** From the present phase to the end; undefined when none of these phases is going on. */
export function restoreSteps(restore: Stored<Restore>, phase: RestorePhase): PlannedStep[] | undefined {
  const order: readonly RestorePhase[] = orderOf(restore);
  const present = order.indexOf(phase);
  if (present === -1) return undefined;
  return orderOf(restore)
    .slice(present)
    .flatMap((each) => steps[each](restore));
}

const none = "none";
const stillStopped = "reads and writes still fail";

const steps: Readonly<Record<OrderedPhase, (restore: Stored<Restore>) => readonly PlannedStep[]>> = {
  Verifying: (restore) => [
    {
      action: "VerifySource",
      reason: `${sourceOf(restore)} is read from its store and checked`,
      interruption: none,
    },
  ],
  SavingPresent: (restore) => [
    {
      action: "SafetyBackup",
      reason: `Backup "${safetyBackupName(restore)}" takes the present data, if ${instanceOf(restore)} serves`,
      interruption: none,
    },
  ],
  Stopping: (restore) => [
    {
      action: "StopMembers",
      reason: `all members of ${instanceOf(restore)} stop and keep their volumes; if a later step fails, they start again on them`,
      interruption: "reads and writes fail from here until the last step has finished",
    },
  ],
  Preparing: (restore) => [
    {
      action: "PrepareVolume",
      reason: hasReplay(restore)
        ? "a new volume gets the backup, and the log up to the target"
        : "a new volume gets the restored data",
      interruption: restore.spec.newInstance === undefined ? stillStopped : none,
    },
  ],
  Starting: (restore) => (restore.spec.newInstance === undefined ? startInPlace(restore) : [startNew(restore)]),
};

function sourceOf(restore: Stored<Restore>): string {
  const { source, instance } = restore.spec;
  const log = hasReplay(restore) ? ", with the log up to the target," : "";
  if (source.backup !== undefined) return `Backup "${source.backup}"${log}`;
  if (source.stored !== undefined) return `"${source.stored.object}"${log}`;
  return `the best backup of ${instance.kind} "${instance.name}" in BackupStore "${source.archive?.store}"${log}`;
}

function startInPlace(restore: Stored<Restore>): readonly PlannedStep[] {
  const { keepPreviousFor } = restore.spec;
  return [
    {
      action: "SwapVolumes",
      reason: `the new volume takes the place of those from before, which are kept for ${keepPreviousFor} after the end`,
      interruption: stillStopped,
    },
    {
      action: "StartMembers",
      reason: `${instanceOf(restore)} starts on the restored data`,
      interruption: `${stillStopped}, until it serves`,
      noReturn: `when it serves, the data written since the backup are only in the volumes from before and in Backup "${safetyBackupName(restore)}", if it was taken`,
    },
  ];
}

function startNew(restore: Stored<Restore>): PlannedStep {
  return { action: "StartMembers", reason: `${instanceOf(restore)} starts on the restored data`, interruption: none };
}

function instanceOf(restore: Restore): string {
  return `${restore.spec.instance.kind} "${targetName(restore)}"`;
}
