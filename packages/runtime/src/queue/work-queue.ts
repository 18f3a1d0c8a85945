import type { Clock, Host, Random, Timer } from "@setpoint/host";
import { DelayHeap } from "./delay-heap.ts";
import { FairLevel } from "./fair-level.ts";
import { priorities, type Priority } from "./priority.ts";
import { QueueEntry } from "./queue-entry.ts";
import { QueueMetrics } from "./queue-metrics.ts";

/** The back-off of a key: doubled from the first to the largest; as controller-runtime. */
const retryDelayMsFirst = 5;
const retryDelayMsMax = 1_000_000;
/**
 * Ageing. Less urgent keys are passed over so often and then have a turn; the longer the oldest of them has waited the sooner, until
 * they have one turn in three. So a change after a restart goes first, and what was there before it never stands still.
 */
const passesBeforeClaim = 8;
const agedMs = 60_000;
/** Keys that are kept only because their rate limit remembers them are looked for when there are more than so many keys. */
const sweepSizeMin = 1_000;

/** How often one key may run. */
export interface RateLimit {
  /** The time between two runs of a key, on average. */
  readonly minIntervalMs: number;
  /** Runs that may follow each other at once after a rest; default 1. */
  readonly burst?: number;
}

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
 * Keys that wait to be worked on.
 *
 * Guarantees: a key is in it at most once; a key that is being worked on is not given out again before `done`, and comes back
 * then if it was added meanwhile; of several delays the earliest counts; namespaces take turns, so a thousand keys of one do
 * not hold up the one key of another; more urgent keys go first, and yet every key has its turn.
 *
 * Adding, taking and ending cost the same whether ten or a hundred thousand keys wait; a delay costs their logarithm.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #flowOf: (key: string) => string;
  readonly #rateLimit: { readonly minIntervalMs: number; readonly slackMs: number } | undefined;
  readonly #entries = new Map<string, QueueEntry>();
  readonly #levels: readonly FairLevel[] = priorities.map((priority) => new FairLevel(priority));
  /** In no order. Not a Set: one that changes with every run leaves a chain of old tables for the next full collection. */
  readonly #running: QueueEntry[] = [];
  readonly #delays = new DelayHeap();
  readonly #metrics: QueueMetrics;
  #timer: Timer | undefined;
  #timerMs = Number.POSITIVE_INFINITY;
  #depth = 0;
  #sweepSize = sweepSizeMin;
  #onReady: () => void = () => {};
  #isClosed = false;

  constructor(options: WorkQueueOptions) {
    const { clock, random, metrics, name, rateLimit } = options;
    this.#clock = clock;
    this.#random = random;
    this.#flowOf = options.flowOf ?? namespaceOf;
    if (rateLimit !== undefined) {
      const { minIntervalMs, burst = 1 } = rateLimit;
      this.#rateLimit = { minIntervalMs, slackMs: (burst - 1) * minIntervalMs };
    }
    const state = { levels: this.#levels, running: this.#running, nowMs: () => clock.monotonic() };
    this.#metrics = new QueueMetrics(metrics, name, state);
  }

  /** Keys that could be taken now. */
  get depth(): number {
    return this.#depth;
  }

  get runningCount(): number {
    return this.#running.length;
  }

  get delayedCount(): number {
    return this.#delays.size;
  }

  /** Keys that it knows anything of. */
  get knownCount(): number {
    return this.#entries.size;
  }

  /** For how long the key that has waited longest is ready; 0 when none is. */
  get oldestWaitMs(): number {
    let waitMs = 0;
    const nowMs = this.#clock.monotonic();
    for (const level of this.#levels) if (level.size > 0) waitMs = Math.max(waitMs, nowMs - level.oldestMs);
    return waitMs;
  }

  /** What a key waits for, with the monotonic time since when, or until when. */
  stateOf(key: string): KeyState {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { kind: "idle", failures: 0 };
    const { failures } = entry;
    if (entry.isRunning) return { kind: "running", sinceMs: entry.startedMs, failures };
    if (entry.level !== undefined) return { kind: "ready", sinceMs: entry.readyMs, failures };
    return this.#delays.has(entry) ? { kind: "delayed", untilMs: entry.dueMs, failures } : { kind: "idle", failures };
  }

  /** The key that has been worked on for longest. */
  get longestRunning(): { readonly key: string; readonly sinceMs: number } | undefined {
    let longest: QueueEntry | undefined;
    for (const entry of this.#running)
      if (longest === undefined || entry.startedMs < longest.startedMs) longest = entry;
    return longest === undefined ? undefined : { key: longest.key, sinceMs: longest.startedMs };
  }

  /** Whether the key was taken and is not done. */
  isRunning(key: string): boolean {
    return this.#entries.get(key)?.isRunning ?? false;
  }

  /** Called whenever a key becomes ready. */
  onReady(callback: () => void): void {
    this.#onReady = callback;
  }

  /** A key that waits already becomes more urgent, never less. */
  add(key: string, priority: Priority = "normal"): void {
    if (this.#isClosed) return;
    this.#makeReady(this.#entryOf(key), priority);
  }

  /** Adds later, as urgent as the key was when it ran last. */
  addAfter(key: string, delayMs: number, priority?: Priority): void {
    if (this.#isClosed) return;
    const entry = this.#entryOf(key);
    const urgency = priority ?? entry.priority;
    if (delayMs <= 0) this.#makeReady(entry, urgency);
    else this.#delayUntil(entry, this.#clock.monotonic() + delayMs, urgency);
  }

  /** Adds after the key's back-off, which grows with each call until `forget`; returns the delay. */
  addRateLimited(key: string): number {
    const entry = this.#entryOf(key);
    const fullMs = Math.min(retryDelayMsFirst * 2 ** entry.failures++, retryDelayMsMax);
    // Half of it is jitter, so that keys that failed together do not come back together.
    const delayMs = fullMs * (0.5 + this.#random.next() / 2);
    this.#metrics.retries++;
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** The key is well: its next back-off starts from the beginning. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.failures = 0;
    this.#dropIfIdle(entry);
  }

  /** The next key, undefined when none is ready. Whoever takes one calls `done`. */
  take(): string | undefined {
    if (this.#depth === 0) return undefined;
    const nowMs = this.#clock.monotonic();
    const level = this.#nextLevel(nowMs);
    const entry = level?.take();
    if (level === undefined || entry === undefined) return undefined;
    this.#depth--;
    entry.isRunning = true;
    entry.startedMs = nowMs;
    entry.priority = level.priority;
    if (this.#rateLimit !== undefined)
      entry.spentUntilMs = Math.max(nowMs, entry.spentUntilMs) + this.#rateLimit.minIntervalMs;
    this.#running.push(entry);
    this.#metrics.waited(nowMs - entry.readyMs);
    return entry.key;
  }

  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || !entry.isRunning) return;
    entry.isRunning = false;
    this.#notRunning(entry);
    this.#metrics.worked(this.#clock.monotonic() - entry.startedMs);
    const { again } = entry;
    entry.again = undefined;
    if (again !== undefined && !this.#isClosed) this.#makeReady(entry, again);
    else this.#dropIfIdle(entry);
  }

  /** Takes no more keys and forgets those that wait; keys that are being worked on may still be `done`. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#delays.clear();
    for (const level of this.#levels) level.clear();
    this.#depth = 0;
    this.#entries.clear();
    for (const entry of this.#running) this.#entries.set(entry.key, entry);
    this.#metrics.close();
  }

  #notRunning(entry: QueueEntry): void {
    const at = this.#running.indexOf(entry);
    const last = this.#running.pop();
    if (last !== undefined && at < this.#running.length) this.#running[at] = last;
  }

  #entryOf(key: string): QueueEntry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    if (this.#entries.size >= this.#sweepSize) this.#sweep();
    const entry = new QueueEntry(key);
    this.#entries.set(key, entry);
    return entry;
  }

  #sweep(): void {
    for (const entry of this.#entries.values()) this.#dropIfIdle(entry);
    this.#sweepSize = Math.max(sweepSizeMin, 2 * this.#entries.size);
  }

  #makeReady(entry: QueueEntry, priority: Priority): void {
    this.#undelay(entry);
    if (entry.isRunning) {
      entry.again = moreUrgent(entry.again ?? priority, priority);
      return;
    }
    const nowMs = this.#clock.monotonic();
    const { level } = entry;
    if (level === undefined) {
      const allowedMs = this.#rateLimit === undefined ? nowMs : entry.spentUntilMs - this.#rateLimit.slackMs;
      if (allowedMs > nowMs) return this.#delayUntil(entry, allowedMs, priority);
    } else if (moreUrgent(level.priority, priority) === level.priority) return;
    // Whatever throws, throws before anything is counted or moved.
    const next = this.#levelOf(priority);
    const flow = this.#flowOf(entry.key);
    if (level === undefined) {
      entry.readyMs = nowMs;
      this.#depth++;
      this.#metrics.adds++;
    } else level.remove(entry);
    next.add(entry, flow);
    this.#onReady();
  }

  #levelOf(priority: Priority): FairLevel {
    const level = this.#levels[priorities.indexOf(priority)];
    if (level === undefined) throw new RangeError(`no level has the priority "${priority}"`);
    return level;
  }

  /** The most urgent keys, unless others have been passed over often enough for their age. */
  #nextLevel(nowMs: number): FairLevel | undefined {
    let next: FairLevel | undefined;
    let nextClaim = Number.NEGATIVE_INFINITY;
    for (const level of this.#levels) {
      if (level.size === 0) continue;
      const claim = next === undefined ? level.passes : level.passes - allowedPasses(nowMs - level.oldestMs);
      if (claim <= nextClaim) continue;
      next = level;
      nextClaim = claim;
    }
    for (const level of this.#levels) level.passes = level === next || level.size === 0 ? 0 : level.passes + 1;
    return next;
  }

  #delayUntil(entry: QueueEntry, dueMs: number, priority: Priority): void {
    if (this.#delays.has(entry)) {
      if (entry.dueMs <= dueMs) return;
      this.#delays.remove(entry);
    }
    entry.dueMs = dueMs;
    entry.duePriority = priority;
    this.#delays.add(entry);
    this.#arm();
  }

  #undelay(entry: QueueEntry): void {
    if (!this.#delays.has(entry)) return;
    this.#delays.remove(entry);
    this.#arm();
  }

  /** One timer, for the delay that ends first. */
  #arm(): void {
    const dueMs = this.#delays.first?.dueMs ?? Number.POSITIVE_INFINITY;
    if (dueMs === this.#timerMs) return;
    this.#timer?.cancel();
    this.#timerMs = dueMs;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.setTimer(() => this.#wake(), dueMs - this.#clock.monotonic());
  }

  #wake(): void {
    const nowMs = this.#clock.monotonic();
    // The timer is spent, also one that fired a moment too early.
    this.#timerMs = Number.NaN;
    for (let entry = this.#delays.first; entry !== undefined && entry.dueMs <= nowMs; entry = this.#delays.first) {
      this.#delays.remove(entry);
      this.#makeReady(entry, entry.duePriority);
    }
    this.#arm();
  }

  #dropIfIdle(entry: QueueEntry): void {
    const isIdle = !entry.isRunning && entry.level === undefined && !this.#delays.has(entry) && entry.failures === 0;
    if (isIdle && entry.spentUntilMs <= this.#clock.monotonic()) this.#entries.delete(entry.key);
  }
}

/** Keys that have waited so long have a turn when they have been passed over more often than this. */
function allowedPasses(waitedMs: number): number {
  return Math.max(1, Math.ceil(passesBeforeClaim * (1 - waitedMs / agedMs)));
}

function moreUrgent(a: Priority, b: Priority): Priority {
  return priorities.indexOf(a) <= priorities.indexOf(b) ? a : b;
}

function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash);
}
