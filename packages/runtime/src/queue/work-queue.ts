import type { Clock, Host, Random } from "@setpoint/host";
import { DelayingQueue } from "./delaying-queue.ts";
import { maxPriority, priorities, type Priority } from "./priority.ts";
import { PriorityLevel } from "./priority-level.ts";
import { QueueMetrics } from "./queue-metrics.ts";
import { createQueuedKey, type QueuedKey } from "./queued-key.ts";
import { BucketRateLimiter, FailureRateLimiter, type RateLimit } from "./rate-limiter.ts";

/**
 * Ageing. Less urgent keys are passed over a number of times and then have a turn. The longer the oldest of
 * them has waited, the sooner, up to one turn in three. So a change after a restart goes first, and keys from
 * before the restart still progress.
 */
const passesBeforeTurn = 8;
const agedMs = 60_000;
/**
 * Above this size the queue looks for keys that it kept only for their rate limit, and drops those that it no
 * longer needs.
 */
const sweepSizeMin = 1_000;

/** Dependencies of a work queue, and its fairness and rate limit. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Host["metrics"];
  /** The label of its metrics. */
  readonly name: string;
  /** Keys with the same answer share a turn; default: the namespace. */
  readonly flowOf?: (key: string) => string;
  /** Default: none. */
  readonly rateLimit?: RateLimit;
}

/** Where a key is. `failures` counts its runs in a row that failed. */
export type KeyState = { readonly failures: number } & (
  | { readonly kind: "idle" }
  | { readonly kind: "ready" | "running"; readonly sinceMs: number }
  | { readonly kind: "delayed"; readonly untilMs: number }
);

/**
 * The rate-limiting queue of a controller.
 *
 * Guarantees: a key is queued at most once. A running key is not handed out again before `done`; when it was
 * added meanwhile, it is ready after that. Of several delays the earliest counts. Namespaces take turns, so a
 * thousand keys of one do not delay the one key of another. More urgent keys go first, and yet every key has
 * its turn.
 *
 * Add, get and done cost the same with ten or a hundred thousand keys; a delay costs O(log n).
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #flowOf: (key: string) => string;
  readonly #failures: FailureRateLimiter;
  readonly #bucket: BucketRateLimiter | undefined;
  readonly #keys = new Map<string, QueuedKey>();
  readonly #levels: readonly PriorityLevel[] = priorities.map((each) => new PriorityLevel(each));
  /** In the order in which they were taken. */
  readonly #running = new Set<QueuedKey>();
  readonly #delays: DelayingQueue;
  readonly #metrics: QueueMetrics;
  #sweepSize = sweepSizeMin;
  #onReady: () => void = () => {};
  #isClosed = false;

  constructor(options: WorkQueueOptions) {
    const { clock, random, metrics, name, rateLimit } = options;
    this.#clock = clock;
    this.#flowOf = options.flowOf ?? namespaceOf;
    this.#failures = new FailureRateLimiter(random);
    if (rateLimit !== undefined) this.#bucket = new BucketRateLimiter(rateLimit);
    this.#delays = new DelayingQueue(clock, (item, priority) => this.#makeReady(item, priority));
    const running = (): readonly number[] => [...this.#running].map((item) => item.runningSinceMs ?? 0);
    this.#metrics = new QueueMetrics(metrics, name, { levels: this.#levels, running, nowMs: () => clock.monotonic() });
  }

  /** Keys that could be taken now. */
  get depth(): number {
    return this.#levels.reduce((sum, level) => sum + level.size, 0);
  }

  /** Keys that are ready or running. */
  get busyKeys(): readonly string[] {
    const isBusy = ({ ready, runningSinceMs }: QueuedKey): boolean =>
      ready !== undefined || runningSinceMs !== undefined;
    return [...this.#keys.values()].filter(isBusy).map(({ key }) => key);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  get delayedCount(): number {
    return this.#delays.size;
  }

  /** Number of keys that the queue remembers. */
  get knownCount(): number {
    return this.#keys.size;
  }

  /** How long the key that has waited longest has been ready; 0 when none is ready. */
  get oldestWaitMs(): number {
    const nowMs = this.#clock.monotonic();
    return Math.max(...this.#levels.map((level) => nowMs - (level.oldestMs ?? nowMs)));
  }

  /** What a key waits for, with the monotonic time since when, or until when. */
  stateOf(key: string): KeyState {
    const item = this.#keys.get(key);
    if (item === undefined) return { kind: "idle", failures: 0 };
    const { failures, runningSinceMs, ready, delay } = item;
    if (runningSinceMs !== undefined) return { kind: "running", sinceMs: runningSinceMs, failures };
    if (ready !== undefined) return { kind: "ready", sinceMs: ready.sinceMs, failures };
    if (delay !== undefined) return { kind: "delayed", untilMs: delay.dueMs, failures };
    return { kind: "idle", failures };
  }

  /** The key that has been running longest. */
  get longestRunning(): { readonly key: string; readonly sinceMs: number } | undefined {
    for (const { key, runningSinceMs = 0 } of this.#running) return { key, sinceMs: runningSinceMs };
    return undefined;
  }

  /** Whether the key was taken and is not done. */
  isRunning(key: string): boolean {
    return this.#keys.get(key)?.runningSinceMs !== undefined;
  }

  /** Called whenever a key becomes ready; not when a ready key becomes more urgent. */
  onReady(callback: () => void): void {
    this.#onReady = callback;
  }

  /** Adds the key. A waiting key can become more urgent, never less. */
  add(key: string, priority: Priority = "normal"): void {
    if (this.#isClosed) return;
    this.#makeReady(this.#itemOf(key), priority);
  }

  /** Adds later; by default with the priority that the key was taken with last. */
  addAfter(key: string, delayMs: number, priority?: Priority): void {
    if (this.#isClosed) return;
    const item = this.#itemOf(key);
    const wanted = priority ?? item.lastPriority;
    if (delayMs <= 0) this.#makeReady(item, wanted);
    else this.#delays.add(item, this.#clock.monotonic() + delayMs, wanted);
  }

  /**
   * Adds after the key's back-off, which grows with each call until `forget`, up to `delayMsMax`. Returns the
   * delay in ms.
   */
  addRateLimited(key: string, delayMsMax?: number): number {
    const delayMs = this.#failures.when(this.#itemOf(key), delayMsMax);
    this.#metrics.retries++;
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** The key succeeded: its next back-off starts from the beginning. */
  forget(key: string): void {
    const item = this.#keys.get(key);
    if (item === undefined) return;
    this.#failures.forget(item);
    this.#dropIfIdle(item);
  }

  /** The next key, undefined when none is ready. The caller must call `done` with it. */
  take(): string | undefined {
    const nowMs = this.#clock.monotonic();
    const level = this.#nextLevel(nowMs);
    const item = level?.next();
    if (level === undefined || item?.ready === undefined) return undefined;
    this.#metrics.waited(nowMs - item.ready.sinceMs);
    level.remove(item);
    item.runningSinceMs = nowMs;
    item.lastPriority = level.priority;
    this.#bucket?.take(item, nowMs);
    this.#running.add(item);
    return item.key;
  }

  done(key: string): void {
    const item = this.#keys.get(key);
    if (item?.runningSinceMs === undefined) return;
    this.#metrics.worked(this.#clock.monotonic() - item.runningSinceMs);
    const { dirty } = item;
    item.runningSinceMs = item.dirty = undefined;
    this.#running.delete(item);
    if (dirty !== undefined && !this.#isClosed) this.#makeReady(item, dirty);
    else this.#dropIfIdle(item);
  }

  /** Accepts no more keys and forgets the waiting ones; running keys may still be `done`. */
  close(): void {
    this.#isClosed = true;
    this.#delays.close();
    for (const level of this.#levels) level.clear();
    for (const [key, item] of this.#keys) if (item.runningSinceMs === undefined) this.#keys.delete(key);
    this.#metrics.close();
  }

  #itemOf(key: string): QueuedKey {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    if (this.#keys.size >= this.#sweepSize) this.#sweep();
    const item = createQueuedKey(key);
    this.#keys.set(key, item);
    return item;
  }

  #sweep(): void {
    for (const item of this.#keys.values()) this.#dropIfIdle(item);
    this.#sweepSize = Math.max(sweepSizeMin, 2 * this.#keys.size);
  }

  #makeReady(item: QueuedKey, priority: Priority): void {
    this.#delays.remove(item);
    if (item.runningSinceMs !== undefined) {
      item.dirty = maxPriority(item.dirty ?? priority, priority);
      return;
    }
    if (item.ready === undefined) this.#admit(item, priority);
    else this.#promote(item, item.ready.priority, maxPriority(item.ready.priority, priority));
  }

  #admit(item: QueuedKey, priority: Priority): void {
    const nowMs = this.#clock.monotonic();
    const allowedMs = this.#bucket?.allowedMs(item) ?? nowMs;
    if (allowedMs > nowMs) return this.#delays.add(item, allowedMs, priority);
    this.#levelOf(priority).add(item, this.#flowOf(item.key), nowMs);
    this.#metrics.adds++;
    this.#onReady();
  }

  #promote(item: QueuedKey, from: Priority, to: Priority): void {
    if (from === to || item.ready === undefined) return;
    const { sinceMs } = item.ready;
    // An author's function may throw: it is called before anything is moved.
    const flow = this.#flowOf(item.key);
    this.#levelOf(from).remove(item);
    this.#levelOf(to).add(item, flow, sinceMs);
  }

  #levelOf(priority: Priority): PriorityLevel {
    const level = this.#levels.find((each) => each.priority === priority);
    if (level === undefined)
      throw new RangeError(`Cannot queue a key: priority "${priority}" is none of ${priorities.join(", ")}`);
    return level;
  }

  /** The most urgent keys, unless less urgent ones have been passed over often enough for their age. */
  #nextLevel(nowMs: number): PriorityLevel | undefined {
    const waiting = this.#levels.filter((level) => level.size > 0);
    let next = waiting[0];
    let mostOverdue = next?.passes ?? 0;
    for (const level of waiting) {
      const overdue = level.passes - allowedPasses(nowMs - (level.oldestMs ?? nowMs));
      if (overdue <= mostOverdue) continue;
      next = level;
      mostOverdue = overdue;
    }
    for (const level of this.#levels) level.passes = level === next || level.size === 0 ? 0 : level.passes + 1;
    return next;
  }

  #dropIfIdle({ key, ready, runningSinceMs, delay, failures, usedUntilMs }: QueuedKey): void {
    const isQueued = ready !== undefined || runningSinceMs !== undefined || delay !== undefined;
    if (isQueued || failures > 0 || usedUntilMs > this.#clock.monotonic()) return;
    this.#keys.delete(key);
  }
}

/** How often keys of this age are passed over before they have a turn. */
function allowedPasses(waitedMs: number): number {
  return Math.max(1, Math.ceil(passesBeforeTurn * (1 - waitedMs / agedMs)));
}

function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash);
}
