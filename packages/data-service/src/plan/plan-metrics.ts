/**
 * The gauges of each BackupPlan. Its conditions are exposed by the framework as `setpoint_object_condition`.
 */
import type { ObjectMetrics } from "setpoint/sources";
import type { BackupPlan } from "../kinds/backup-plan.ts";

const secondMs = 1_000;

export const backupPlanMetrics: ObjectMetrics<BackupPlan> = {
  gauges: {
    data_backup_plan_good_backups: "Verified backups of the plan.",
    data_backup_plan_last_good_backup_age_seconds:
      "Age of the newest verified backup: what would be lost in a disaster now.",
    data_backup_plan_overdue_seconds: "For how long the next backup has been due; 0 when it is not yet due.",
  },
  values({ spec, status }, nowMs) {
    const secondsSince = (time: string | undefined): number | undefined =>
      time === undefined ? undefined : (nowMs - Date.parse(time)) / secondMs;
    const overdue = spec.suspend ? 0 : (secondsSince(status?.nextScheduleTime) ?? 0);
    return {
      data_backup_plan_good_backups: status?.goodBackups,
      data_backup_plan_last_good_backup_age_seconds: secondsSince(status?.lastGoodBackup?.takenAt),
      data_backup_plan_overdue_seconds: Math.max(0, overdue),
    };
  },
};
