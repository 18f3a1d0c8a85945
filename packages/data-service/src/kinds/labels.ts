/** Labels and annotations of the group `data.setpoint.dev`. */
export const dataLabels = {
  /** On a transfer pod: the task of its request. */
  task: "data.setpoint.dev/task",
  /** On a transfer pod: the kind of its owner in lower case. */
  owner: "data.setpoint.dev/owner",
  /** On what a BackupPlan or RestoreDrill creates: the name of that object. */
  plan: "data.setpoint.dev/plan",
  /** An annotation of an instance: the restore that it takes part in; see `RestoreMark`. */
  restore: "data.setpoint.dev/restore",
  /** On a Secret, with the value "true": it may be sent to an instance that no operator runs. */
  externalLogin: "data.setpoint.dev/external-login",
} as const;

/** An annotation of a Backup: the time of the schedule that it was made for. */
export const scheduledAt = "data.setpoint.dev/scheduled-at";
