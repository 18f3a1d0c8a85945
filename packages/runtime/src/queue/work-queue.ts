import type { Clock, Counter, Gauge, Histogram, Host, Random, Timer } from "@setpoint/host";

/** The back-off of a key: doubled from the first to the largest; as controller-runtime. */
const retryDelayMsFirst = 5;
const retryDelayMsMax = 1_000_000;
/** Seconds; upper bounds as client-go's, without those below a clock's resolution. */
const durationBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Host["metrics"];
  /** The label of its metrics. */
  readonly name: string;
}

interface Delayed {
  readonly atMs: number;
  readonly timer: Timer;
}

/**
 * Keys that wait to be worked on.
 *
 * Guarantees: a key is in it at most once; a key that is being worked on is not given out again before `done`, and comes back
 * then if it was added meanwhile; of several delays the earliest counts; namespaces take turns, so a thousand keys of one do
 * not hold up the one key of another.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Ready keys by namespace; the order of the map is whose turn it is. */
  readonly #ready = new Map<string, Map<string, number>>();
  readonly #running = new Map<string, number>();
  /** Added while being worked on. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  readonly #metrics: QueueMetrics;
  #onReady: () => void = () => {};
  #isClosed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#metrics = createQueueMetrics(options);
  }

  /** Keys that could be taken now. */
  get depth(): number {
    let depth = 0;
    for (const keys of this.#ready.values()) depth += keys.size;
    return depth;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  get delayedCount(): number {
    return this.#delayed.size;
  }

  /** Called whenever a key becomes ready. */
  onReady(callback: () => void): void {
    this.#onReady = callback;
  }

  add(key: string): void {
    if (this.#isClosed) return;
    this.#undelay(key);
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    const namespace = namespaceOf(key);
    const keys = this.#ready.get(namespace) ?? new Map<string, number>();
    if (keys.has(key)) return;
    keys.set(key, this.#clock.monotonic());
    this.#ready.set(namespace, keys);
    this.#metrics.adds();
    this.#metrics.depth(this.depth);
    this.#onReady();
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#isClosed) return;
    if (delayMs <= 0) return this.add(key);
    const atMs = this.#clock.monotonic() + delayMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.atMs <= atMs) return;
    this.#undelay(key);
    this.#delayed.set(key, { atMs, timer: this.#clock.setTimer(() => this.add(key), delayMs) });
  }

  /** Adds after the key's back-off, which grows with each call until `forget`; returns the delay. */
  addRateLimited(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const fullMs = Math.min(retryDelayMsFirst * 2 ** failures, retryDelayMsMax);
    // Half of it is jitter, so that keys that failed together do not come back together.
    const delayMs = fullMs * (0.5 + this.#random.next() / 2);
    this.#metrics.retries();
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** The key is well: its next back-off starts from the beginning. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, undefined when none is ready. Whoever takes one calls `done`. */
  take(): string | undefined {
    for (const [namespace, keys] of this.#ready) {
      for (const [key, addedMs] of keys) {
        this.#takeFrom(namespace, keys, key, addedMs);
        return key;
      }
    }
    return undefined;
  }

  done(key: string): void {
    const startedMs = this.#running.get(key);
    if (startedMs === undefined) return;
    this.#running.delete(key);
    this.#metrics.worked(this.#clock.monotonic() - startedMs);
    if (this.#again.delete(key)) this.add(key);
  }

  /** Takes no more keys and forgets those that wait; keys that are being worked on may still be `done`. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#again.clear();
    this.#metrics.depth(0);
  }

  #takeFrom(namespace: string, keys: Map<string, number>, key: string, addedMs: number): void {
    const nowMs = this.#clock.monotonic();
    keys.delete(key);
    // The namespace goes to the end of the line.
    this.#ready.delete(namespace);
    if (keys.size > 0) this.#ready.set(namespace, keys);
    this.#running.set(key, nowMs);
    this.#metrics.waited(nowMs - addedMs);
    this.#metrics.depth(this.depth);
  }

  #undelay(key: string): void {
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
  }
}

function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash);
}

interface QueueMetrics {
  adds(): void;
  retries(): void;
  depth(value: number): void;
  waited(durationMs: number): void;
  worked(durationMs: number): void;
}

function createQueueMetrics({ metrics, name }: WorkQueueOptions): QueueMetrics {
  const labels = { name, controller: name };
  const adds: Counter = metrics.counter("workqueue_adds_total", "Total number of adds handled by workqueue.");
  const retries: Counter = metrics.counter("workqueue_retries_total", "Total number of retries handled by workqueue.");
  const depth: Gauge = metrics.gauge("workqueue_depth", "Current depth of workqueue.");
  const waited: Histogram = metrics.histogram(
    "workqueue_queue_duration_seconds",
    "How long in seconds an item stays in workqueue before being requested.",
    durationBuckets,
  );
  const worked: Histogram = metrics.histogram(
    "workqueue_work_duration_seconds",
    "How long in seconds processing an item from workqueue takes.",
    durationBuckets,
  );
  return {
    adds: () => adds.add(1, labels),
    retries: () => retries.add(1, labels),
    depth: (value) => depth.set(value, labels),
    waited: (durationMs) => waited.observe(durationMs / 1_000, labels),
    worked: (durationMs) => worked.observe(durationMs / 1_000, labels),
  };
}
