/** Where a reloader reports what Prometheus has loaded. */
export const loadedPath = "/v1/loaded";
/** Where a reloader reports the targets of one job: `?pool=JOB`. */
export const poolPath = "/v1/targets";
