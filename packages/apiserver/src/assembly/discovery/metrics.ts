/** `/metrics`: the server's own metrics, for clients that are authorized to read them. */
import type { Metrics } from "@setpoint/host";
import type { EndpointTable } from "../../registry/endpoint.ts";
import { textResponse } from "./response.ts";

/** The endpoint, in the text format of Prometheus. */
export function metricsEndpoint(metrics: Metrics): EndpointTable {
  return new Map([["GET /metrics", async () => textResponse(200, metrics.expose())]]);
}
