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
  /** On a Secret, with the value "true": instances may have it sign their certificates. */
  certificateAuthority: "data.setpoint.dev/certificate-authority",
  /** On a Secret or a claim, with the value "true": BackupStores of the namespace may use it. */
  backupStore: "data.setpoint.dev/backup-store",
  /** On the same, with the value "true": Restores may read what Backups of other namespaces have stored. */
  otherNamespaces: "data.setpoint.dev/other-namespaces",
  /** On a Secret, with the value "true": bindings may project it into workloads of the namespace. */
  workloadBinding: "data.setpoint.dev/workload-binding",
} as const;

/** An annotation of a Backup: the time of the schedule that it was made for. */
export const scheduledAt = "data.setpoint.dev/scheduled-at";
