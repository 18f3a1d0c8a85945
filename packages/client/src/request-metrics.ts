import type { ApiRequest, ApiResponse, RawResponse, Transport } from "@setpoint/apimachinery";
import type { Clock, Metrics } from "@setpoint/host";

/** As client-go's, in seconds. */
const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * Counts and times what goes through, under the names that client-go uses: `rest_client_requests_total{code,method}`,
 * `rest_client_request_duration_seconds{verb}` (until the head of the answer, as there).
 */
export function countingTransport(inner: Transport, metrics: Metrics, clock: Clock): Transport {
  const requests = metrics.counter(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code and method.",
  );
  const durations = metrics.histogram(
    "rest_client_request_duration_seconds",
    "Request latency in seconds. Broken down by verb.",
    durationBuckets,
  );
  const counted = async <R extends RawResponse>(request: ApiRequest, answer: Promise<R>): Promise<R> => {
    const startedMs = clock.monotonic();
    const { method } = request;
    try {
      const response = await answer;
      requests.add(1, answered(String(response.status), method));
      return response;
    } catch (error) {
      requests.add(1, answered("<error>", method));
      throw error;
    } finally {
      durations.observe((clock.monotonic() - startedMs) / 1_000, verbs[method]);
    }
  };
  const sendRaw = inner.sendRaw?.bind(inner);
  return {
    send: (request, signal): Promise<ApiResponse> => counted(request, inner.send(request, signal)),
    ...(sendRaw === undefined ? {} : { sendRaw: (request, signal) => counted(request, sendRaw(request, signal)) }),
  };
}

/** The same objects again and again, so that a registry finds their series at once. */
const verbs: Readonly<Record<ApiRequest["method"], { readonly verb: string }>> = {
  GET: { verb: "GET" },
  HEAD: { verb: "HEAD" },
  POST: { verb: "POST" },
  PUT: { verb: "PUT" },
  PATCH: { verb: "PATCH" },
  DELETE: { verb: "DELETE" },
};

const answers = new Map<string, { readonly code: string; readonly method: string }>();

function answered(code: string, method: string): { readonly code: string; readonly method: string } {
  const key = `${method} ${code}`;
  let labels = answers.get(key);
  if (labels === undefined) answers.set(key, (labels = { code, method }));
  return labels;
}

/** Counts the requests that are sent again: `rest_client_request_retries_total{code,verb}`. */
export function retryCounter(metrics: Metrics | undefined): (request: ApiRequest, code: string) => void {
  const retries = metrics?.counter(
    "rest_client_request_retries_total",
    "Number of request retries, partitioned by status code and verb.",
  );
  return ({ method }, code) => retries?.add(1, { code, verb: method });
}
