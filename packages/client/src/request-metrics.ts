import type { ApiRequest } from "@setpoint/apimachinery";
import { noMetrics, type Clock, type Counter, type Histogram, type Metrics } from "@setpoint/host";

/** As client-go's, in seconds. */
const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * Counts and times requests under the names that client-go uses: `rest_client_requests_total{code,method}`,
 * `rest_client_request_duration_seconds{verb}` (until the head of the answer, as there),
 * `rest_client_request_retries_total{code,verb}`.
 */
export class RequestMetrics {
  readonly #clock: Clock;
  readonly #requests: Counter;
  readonly #durations: Histogram;
  readonly #retries: Counter;

  constructor(metrics: Metrics = noMetrics, clock: Clock) {
    this.#clock = clock;
    this.#requests = metrics.counter(
      "rest_client_requests_total",
      "Number of HTTP requests, partitioned by status code and method.",
    );
    this.#durations = metrics.histogram(
      "rest_client_request_duration_seconds",
      "Request latency in seconds. Broken down by verb.",
      durationBuckets,
    );
    this.#retries = metrics.counter(
      "rest_client_request_retries_total",
      "Number of request retries, partitioned by status code and verb.",
    );
  }

  /** A request that has just been answered, or has failed without an answer. */
  ended({ method }: ApiRequest, code: number | "<error>", startedMs: number): void {
    this.#requests.add(1, { code: String(code), method });
    this.#durations.observe((this.#clock.monotonic() - startedMs) / 1_000, { verb: method });
  }

  /** A request that is sent again. */
  repeated({ method }: ApiRequest, code: string): void {
    this.#retries.add(1, { code, verb: method });
  }
}
