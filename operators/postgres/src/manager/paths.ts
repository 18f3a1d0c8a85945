/** Where an instance has its files; the pod mounts the volumes at these places. */
export const paths = {
  /** The volume of the instance. */
  volume: "/var/lib/postgresql/data",
  /** PostgreSQL's own folder on it: a volume may have a folder lost+found. */
  data: "/var/lib/postgresql/data/pgdata",
  /** Data under construction; takes the place of `data` when complete. */
  newData: "/var/lib/postgresql/data/pgdata.new",
  /** Empty data of the next major version, for a check. */
  checkData: "/var/lib/postgresql/data/pgdata.check",
  /** There while statistics of upgraded data are missing. */
  analyze: "/var/lib/postgresql/data/analyze",
  /** The sockets of servers that pg_upgrade starts, which nobody else finds. */
  upgradeSocket: "/run/setpoint/upgrade",
  /** What was dumped of another server, until it is restored into the new data. */
  dump: "/var/lib/postgresql/data/import",
  /** The socket of the server that imports, which nobody else finds. */
  importSocket: "/run/setpoint/import",
  /** Settings of a restore, which count until the server has recovered. */
  recovery: "/var/lib/postgresql/data/recovery.conf",
  /** Segments of the log from an archive, for a restore. */
  archived: "/var/lib/postgresql/data/archived",
  /** What the operator said last. */
  desired: "/var/lib/postgresql/data/desired.json",
  /** Sockets and copies of keys, of this pod alone. */
  run: "/run/setpoint",
  socket: "/run/setpoint/socket",
  /** Where a server tries settings, without data. */
  trial: "/run/setpoint/trial",
  certificates: "/run/setpoint/tls",
  /** What logs in to a server outside of the cluster. */
  otherServer: "/run/setpoint/other",
  /** The Secrets as the pod mounts them, a folder for each role. */
  mountedCertificates: "/etc/postgres/tls",
  password: "/etc/postgres/app/password",
} as const;

/** The role that reads metrics, over the socket alone. */
export const monitorRole = "setpoint_monitor";

/** The role by which instances copy and follow each other; it logs in by its certificate. */
export const replicationRole = "streaming_replica";
