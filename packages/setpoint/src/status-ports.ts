/** In a pod: where probes ask, without TLS. */
export const statusPort = 8080;
/** In a pod: where Prometheus asks, with TLS and a token. */
export const metricsPort = 8443;
