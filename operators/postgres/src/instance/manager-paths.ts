/** The paths of an instance manager's API, and who may use them. */

/** The names in the certificates of the clients of a manager. */
export const clientNames = {
  operator: "postgres-operator",
  instance: "streaming_replica",
  backup: "postgres-backup",
} as const;

/** GET: a report. With `holder` and `term`, proof to the primary that the operator reaches it. */
export const reportPath = "/v1/report";
/** PUT: what the instance should be. */
export const desiredPath = "/v1/desired";
/** POST: the server that started at this moment is to restart for settings that wait for it. */
export const restartPath = "/v1/restart";
/** GET, for transfer pods: a base backup as a tar archive. */
export const baseBackupPath = "/v1/base-backup";
/** Behind a base backup: when it was complete, in milliseconds since the epoch by the clock of its server. */
export const endedAtTrailer = "x-ended-at";
/** POST: a request for the primary's lease. */
export const leasePath = "/v1/lease";
