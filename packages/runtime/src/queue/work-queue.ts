import type { Clock, Host, Random, Timer } from "@setpoint/host";
import { DelayHeap } from "./delay-heap.ts";
import { FairLevel } from "./fair-level.ts";
import { KeyTable } from "./key-table.ts";
import { priorities, type Priority } from "./priority.ts";
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
  readonly #keys = new KeyTable();
  readonly #levels: readonly FairLevel[] = priorities.map((each) => new FairLevel(each, numberOf(each), this.#keys));
  /** In no order. Not a Set: one that changes with every run leaves a chain of old tables for the next full collection. */
  readonly #running: number[] = [];
  readonly #delays = new DelayHeap(this.#keys);
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
    const running = (): readonly number[] => this.#running.map((slot) => this.#keys.startedMs.get(slot));
    this.#metrics = new QueueMetrics(metrics, name, { levels: this.#levels, running, nowMs: () => clock.monotonic() });
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
    return this.#keys.size;
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
    const keys = this.#keys;
    const slot = keys.find(key);
    if (slot === undefined) return { kind: "idle", failures: 0 };
    const failures = keys.failures.get(slot);
    if (this.#isRunning(slot)) return { kind: "running", sinceMs: keys.startedMs.get(slot), failures };
    if (this.#levelOf(slot) !== undefined) return { kind: "ready", sinceMs: keys.readyMs.get(slot), failures };
    if (!this.#delays.has(slot)) return { kind: "idle", failures };
    return { kind: "delayed", untilMs: keys.dueMs.get(slot), failures };
  }

  /** The key that has been worked on for longest. */
  get longestRunning(): { readonly key: string; readonly sinceMs: number } | undefined {
    const { startedMs } = this.#keys;
    let longest: number | undefined;
    for (const slot of this.#running)
      if (longest === undefined || startedMs.get(slot) < startedMs.get(longest)) longest = slot;
    return longest === undefined ? undefined : { key: this.#keys.keyOf(longest), sinceMs: startedMs.get(longest) };
  }

  /** Whether the key was taken and is not done. */
  isRunning(key: string): boolean {
    const slot = this.#keys.find(key);
    return slot !== undefined && this.#isRunning(slot);
  }

  /** Called whenever a key becomes ready. */
  onReady(callback: () => void): void {
    this.#onReady = callback;
  }

  /** A key that waits already becomes more urgent, never less. */
  add(key: string, priority: Priority = "normal"): void {
    if (this.#isClosed) return;
    const level = numberOf(priority);
    this.#makeReady(this.#slotOf(key), level);
  }

  /** Adds later, as urgent as the key was when it ran last. */
  addAfter(key: string, delayMs: number, priority?: Priority): void {
    if (this.#isClosed) return;
    const asked = priority === undefined ? undefined : numberOf(priority);
    const slot = this.#slotOf(key);
    const level = asked ?? this.#keys.takenFrom.get(slot);
    if (delayMs <= 0) this.#makeReady(slot, level);
    else this.#delayUntil(slot, this.#clock.monotonic() + delayMs, level);
  }

  /** Adds after the key's back-off, which grows with each call until `forget`, but not after more than `delayMsMax`; returns the delay. */
  addRateLimited(key: string, delayMsMax: number = retryDelayMsMax): number {
    const { failures } = this.#keys;
    const slot = this.#slotOf(key);
    const before = failures.get(slot);
    failures.set(slot, before + 1);
    const fullMs = Math.min(retryDelayMsFirst * 2 ** before, delayMsMax, retryDelayMsMax);
    // Half of it is jitter, so that keys that failed together do not come back together.
    const delayMs = fullMs * (0.5 + this.#random.next() / 2);
    this.#metrics.retries++;
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** The key is well: its next back-off starts from the beginning. */
  forget(key: string): void {
    const slot = this.#keys.find(key);
    if (slot === undefined) return;
    this.#keys.failures.set(slot, 0);
    this.#dropIfIdle(slot);
  }

  /** The next key, undefined when none is ready. Whoever takes one calls `done`. */
  take(): string | undefined {
    if (this.#depth === 0) return undefined;
    const nowMs = this.#clock.monotonic();
    const level = this.#nextLevel(nowMs);
    const slot = level?.take();
    if (level === undefined || slot === undefined) return undefined;
    const { isRunning, startedMs, takenFrom, spentUntilMs, readyMs } = this.#keys;
    this.#depth--;
    isRunning.set(slot, 1);
    startedMs.set(slot, nowMs);
    takenFrom.set(slot, level.number);
    if (this.#rateLimit !== undefined)
      spentUntilMs.set(slot, Math.max(nowMs, spentUntilMs.get(slot)) + this.#rateLimit.minIntervalMs);
    this.#running.push(slot);
    this.#metrics.waited(nowMs - readyMs.get(slot));
    return this.#keys.keyOf(slot);
  }

  done(key: string): void {
    const slot = this.#keys.find(key);
    if (slot === undefined || !this.#isRunning(slot)) return;
    const { isRunning, startedMs, again } = this.#keys;
    isRunning.set(slot, 0);
    this.#notRunning(slot);
    this.#metrics.worked(this.#clock.monotonic() - startedMs.get(slot));
    const level = again.get(slot);
    again.set(slot, 0);
    if (level !== 0 && !this.#isClosed) this.#makeReady(slot, level);
    else this.#dropIfIdle(slot);
  }

  /** Takes no more keys and forgets those that wait; keys that are being worked on may still be `done`. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#delays.clear();
    for (const level of this.#levels) level.clear();
    this.#depth = 0;
    for (const slot of this.#keys.slots()) if (!this.#isRunning(slot)) this.#keys.remove(slot);
    this.#metrics.close();
  }

  #isRunning(slot: number): boolean {
    return this.#keys.isRunning.get(slot) === 1;
  }

  #notRunning(slot: number): void {
    const at = this.#running.indexOf(slot);
    const last = this.#running.pop();
    if (last !== undefined && at < this.#running.length) this.#running[at] = last;
  }

  #slotOf(key: string): number {
    const known = this.#keys.find(key);
    if (known !== undefined) return known;
    if (this.#keys.size >= this.#sweepSize) this.#sweep();
    const slot = this.#keys.add(key);
    this.#keys.takenFrom.set(slot, numberOf("normal"));
    return slot;
  }

  #sweep(): void {
    for (const slot of this.#keys.slots()) this.#dropIfIdle(slot);
    this.#sweepSize = Math.max(sweepSizeMin, 2 * this.#keys.size);
  }

  #makeReady(slot: number, wanted: number): void {
    this.#undelay(slot);
    const { again, spentUntilMs, readyMs } = this.#keys;
    if (this.#isRunning(slot)) {
      const before = again.get(slot);
      again.set(slot, before === 0 ? wanted : Math.min(before, wanted));
      return;
    }
    const nowMs = this.#clock.monotonic();
    const level = this.#levelOf(slot);
    if (level === undefined) {
      const allowedMs = this.#rateLimit === undefined ? nowMs : spentUntilMs.get(slot) - this.#rateLimit.slackMs;
      if (allowedMs > nowMs) return this.#delayUntil(slot, allowedMs, wanted);
    } else if (level.number <= wanted) return;
    // Whatever throws, throws before anything is counted or moved.
    const flow = this.#flowOf(this.#keys.keyOf(slot));
    if (level === undefined) {
      readyMs.set(slot, nowMs);
      this.#depth++;
      this.#metrics.adds++;
    } else level.remove(slot);
    this.#levels[wanted - 1]?.add(slot, flow);
    this.#onReady();
  }

  /** Where the key waits; undefined when it is not ready. */
  #levelOf(slot: number): FairLevel | undefined {
    const number = this.#keys.level.get(slot);
    return number === 0 ? undefined : this.#levels[number - 1];
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

  #delayUntil(slot: number, untilMs: number, level: number): void {
    const { dueMs, dueLevel } = this.#keys;
    if (this.#delays.has(slot)) {
      if (dueMs.get(slot) <= untilMs) return;
      this.#delays.remove(slot);
    }
    dueMs.set(slot, untilMs);
    dueLevel.set(slot, level);
    this.#delays.add(slot);
    this.#arm();
  }

  #undelay(slot: number): void {
    if (!this.#delays.has(slot)) return;
    this.#delays.remove(slot);
    this.#arm();
  }

  /** One timer, for the delay that ends first. */
  #arm(): void {
    const { first } = this.#delays;
    const dueMs = first === undefined ? Number.POSITIVE_INFINITY : this.#keys.dueMs.get(first);
    if (dueMs === this.#timerMs) return;
    this.#timer?.cancel();
    this.#timerMs = dueMs;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.setTimer(() => this.#wake(), dueMs - this.#clock.monotonic());
  }

  #wake(): void {
    const { dueMs, dueLevel } = this.#keys;
    const nowMs = this.#clock.monotonic();
    // The timer is spent, also one that fired a moment too early.
    this.#timerMs = Number.NaN;
    for (let slot = this.#delays.first; slot !== undefined && dueMs.get(slot) <= nowMs; slot = this.#delays.first) {
      this.#delays.remove(slot);
      this.#makeReady(slot, dueLevel.get(slot));
    }
    this.#arm();
  }

  #dropIfIdle(slot: number): void {
    const { failures, spentUntilMs } = this.#keys;
    const isWaiting = this.#levelOf(slot) !== undefined || this.#delays.has(slot);
    if (isWaiting || this.#isRunning(slot) || failures.get(slot) > 0) return;
    if (spentUntilMs.get(slot) <= this.#clock.monotonic()) this.#keys.remove(slot);
  }
}

/** Keys that have waited so long have a turn when they have been passed over more often than this. */
function allowedPasses(waitedMs: number): number {
  return Math.max(1, Math.ceil(passesBeforeClaim * (1 - waitedMs / agedMs)));
}

/** The number of its level; the most urgent has the least. */
function numberOf(priority: Priority): number {
  const index = priorities.indexOf(priority);
  if (index === -1) throw new RangeError(`no level has the priority "${priority}"`);
  return index + 1;
}

function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash);
}
