import type { ApiRequest, ApiResponse, RawResponse, Transport } from "@setpoint/apimachinery";
import type { Metrics } from "@setpoint/host";

/** Counts what goes through, under the names that client-go uses: `rest_client_requests_total{code,method}`. */
export function countingTransport(inner: Transport, metrics: Metrics): Transport {
  const requests = metrics.counter(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code and method.",
  );
  const counted = async <R extends RawResponse>(request: ApiRequest, answer: Promise<R>): Promise<R> => {
    try {
      const response = await answer;
      requests.add(1, { code: String(response.status), method: request.method });
      return response;
    } catch (error) {
      requests.add(1, { code: "<error>", method: request.method });
      throw error;
    }
  };
  const { sendRaw } = inner;
  return {
    send: (request, signal): Promise<ApiResponse> => counted(request, inner.send(request, signal)),
    ...(sendRaw === undefined
      ? {}
      : { sendRaw: (request, signal) => counted(request, sendRaw.call(inner, request, signal)) }),
  };
}
