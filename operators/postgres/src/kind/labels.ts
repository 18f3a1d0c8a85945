/** Labels and annotations of the operator. */
export const labels = {
  cluster: "postgres.setpoint.dev/cluster",
  instance: "postgres.setpoint.dev/instance",
  /** `primary`, `replica` or `none`; what the Services select. */
  role: "postgres.setpoint.dev/role",
  /** On the Secret with the login of the application. */
  login: "postgres.setpoint.dev/login",
  /** An annotation of a pod: the settings of the spec that it was made with. */
  template: "postgres.setpoint.dev/template",
  /** An annotation of a pod: the image whose programs it has beside its own, to upgrade the data. */
  nextImage: "postgres.setpoint.dev/next-image",
  /** An annotation of a claim: the UID of the PostgresCluster that it was made for. */
  clusterUid: "postgres.setpoint.dev/cluster-uid",
  /** An annotation of a claim: the restore whose data it has; absent on those from before any. */
  restore: "postgres.setpoint.dev/restore",
  /** An annotation of a PostgresCluster: the instance that should become the primary. */
  switchover: "postgres.setpoint.dev/switchover-to",
  /** An annotation of a PostgresCluster: a new text asks for new certificates now. */
  rotate: "postgres.setpoint.dev/rotate-certificates",
} as const;
