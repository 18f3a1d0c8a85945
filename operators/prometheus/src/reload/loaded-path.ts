/** Where a reloader reports what Prometheus has loaded. */
export const loadedPath = "/v1/loaded";
