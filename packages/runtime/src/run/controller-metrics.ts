import type { Metrics } from "@setpoint/host";

/** Seconds; as controller-runtime's. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How a run ended, in controller-runtime's words. */
const runEnds = ["success", "error", "requeue", "requeue_after"] as const;
export type RunEnd = (typeof runEnds)[number];

export interface ControllerMetrics {
  ended(end: RunEnd, durationMs: number): void;
  failed(isTerminal: boolean): void;
  timedOut(): void;
  /** Called before a scrape. */
  workersInUse(count: number): void;
}

/** The metrics of one controller, under controller-runtime's names. */
export function createControllerMetrics(metrics: Metrics, controller: string, concurrency: number): ControllerMetrics {
  const labels = { controller };
  const total = metrics.counter("controller_runtime_reconcile_total", "Total number of reconciliations per controller");
  const errors = metrics.counter(
    "controller_runtime_reconcile_errors_total",
    "Total number of reconciliation errors per controller",
  );
  const terminal = metrics.counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Total number of terminal reconciliation errors per controller",
  );
  const timeouts = metrics.counter(
    "controller_runtime_reconcile_timeouts_total",
    "Total number of reconciliation timeouts per controller",
  );
  const duration = metrics.histogram(
    "controller_runtime_reconcile_time_seconds",
    "Length of time per reconciliation per controller",
    durationBuckets,
  );
  const active = metrics.gauge("controller_runtime_active_workers", "Number of currently used workers per controller");
  metrics
    .gauge("controller_runtime_max_concurrent_reconciles", "Maximum number of concurrent reconciles per controller")
    .set(concurrency, labels);
  // An alert on an increase needs the count from before the first one.
  for (const counter of [errors, terminal, timeouts]) counter.add(0, labels);
  for (const result of runEnds) total.add(0, { controller, result });
  return {
    ended(result, durationMs) {
      total.add(1, { controller, result });
      duration.observe(durationMs / 1_000, labels);
    },
    timedOut: () => timeouts.add(1, labels),
    failed: (isTerminal) => (isTerminal ? terminal : errors).add(1, labels),
    workersInUse: (count) => active.set(count, labels),
  };
}
