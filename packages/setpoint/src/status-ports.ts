/** In a pod: where probes ask, without TLS. */
export const statusPort = 8080;
/** In a pod: where Prometheus asks, with TLS and a token. */
export const metricsPort = 8443;
/** On a desk: each operator takes the first of these that is free, and `setpoint why` asks at all of them. */
export const deskPorts: readonly number[] = Array.from({ length: 10 }, (_, i) => statusPort + i);
