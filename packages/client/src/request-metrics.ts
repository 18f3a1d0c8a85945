import type { ApiResponse, Transport } from "@setpoint/apimachinery";
import type { Metrics } from "@setpoint/host";

/** Counts what goes through, under the names that client-go uses: `rest_client_requests_total{code,method}`. */
export function countingTransport(inner: Transport, metrics: Metrics): Transport {
  const requests = metrics.counter(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code and method.",
  );
  return {
    async send(request, signal): Promise<ApiResponse> {
      try {
        const response = await inner.send(request, signal);
        requests.add(1, { code: String(response.status), method: request.method });
        return response;
      } catch (error) {
        requests.add(1, { code: "<error>", method: request.method });
        throw error;
      }
    },
  };
}
