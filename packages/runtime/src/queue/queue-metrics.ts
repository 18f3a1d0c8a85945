import type { Metrics } from "@setpoint/host";
import { priorityNumbers } from "./priority.ts";
import type { PriorityLevel } from "./priority-level.ts";

/** Seconds; upper bounds as client-go's, without those below a clock's resolution. */
const durationBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

/** The state of a queue that a scrape reads. */
export interface QueueState {
  readonly levels: readonly PriorityLevel[];
  /** Since when each key runs that does. */
  running(this: void): readonly number[];
  nowMs(): number;
}

/**
 * The metrics of a queue under client-go's names. It keeps counts as numbers and writes them to the registry
 * at a scrape, so a queue with a hundred thousand keys spends its time on keys.
 */
export class QueueMetrics {
  adds = 0;
  retries = 0;
  readonly #labels: { readonly name: string; readonly controller: string };
  readonly #metrics: Metrics;
  readonly #state: QueueState;
  readonly #stopCollecting: () => void;
  readonly #waited: { observe(value: number, labels: Readonly<Record<string, string>>): void };
  readonly #worked: { observe(value: number, labels: Readonly<Record<string, string>>): void };

  constructor(metrics: Metrics, name: string, state: QueueState) {
    this.#metrics = metrics;
    this.#labels = { name, controller: name };
    this.#state = state;
    this.#waited = metrics.histogram(
      "workqueue_queue_duration_seconds",
      "How long in seconds an item stays in workqueue before being requested.",
      durationBuckets,
    );
    this.#worked = metrics.histogram(
      "workqueue_work_duration_seconds",
      "How long in seconds processing an item from workqueue takes.",
      durationBuckets,
    );
    this.#stopCollecting = metrics.onExpose(() => this.#collect());
  }

  waited(durationMs: number): void {
    this.#waited.observe(durationMs / 1_000, this.#labels);
  }

  worked(durationMs: number): void {
    this.#worked.observe(durationMs / 1_000, this.#labels);
  }

  close(): void {
    this.#collect();
    this.#stopCollecting();
  }

  #collect(): void {
    const metrics = this.#metrics;
    metrics.counter("workqueue_adds_total", "Total number of adds handled by workqueue.").add(this.adds, this.#labels);
    metrics
      .counter("workqueue_retries_total", "Total number of retries handled by workqueue.")
      .add(this.retries, this.#labels);
    this.adds = this.retries = 0;
    const depth = metrics.gauge("workqueue_depth", "Current depth of workqueue by priority.");
    for (const { priority, size } of this.#state.levels)
      depth.set(size, { ...this.#labels, priority: String(priorityNumbers[priority]) });
    this.#collectRunning();
  }

  #collectRunning(): void {
    const nowMs = this.#state.nowMs();
    let [sumMs, longestMs] = [0, 0];
    for (const startedMs of this.#state.running()) {
      sumMs += nowMs - startedMs;
      longestMs = Math.max(longestMs, nowMs - startedMs);
    }
    this.#metrics
      .gauge("workqueue_unfinished_work_seconds", "Seconds of work in progress that work_duration has not seen yet.")
      .set(sumMs / 1_000, this.#labels);
    this.#metrics
      .gauge("workqueue_longest_running_processor_seconds", "How long the longest running processor has been running.")
      .set(longestMs / 1_000, this.#labels);
  }
}
