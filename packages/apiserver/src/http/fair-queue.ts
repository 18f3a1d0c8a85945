/**
 * Chooses the user whose request runs next: a simple form of API Priority and Fairness. Most requests wait
 * only for resolved promises, so the shared resource is the time of one event loop. The queue spends it in
 * slices. When a slice is used up, requests wait for the next one, and the user with the least time runs
 * first.
 */
import type { Clock } from "@setpoint/host";
import { microtasksDone } from "./microtasks.ts";

/** What requests may use of one turn of the loop before the connections get their turn, too. */
const sliceMsDefault = 8;
/** Users whose past use is remembered. */
const flowsMax = 1_000;

export interface FairQueueOptions {
  /** What work may use of one turn of the loop. */
  readonly sliceMs?: number;
  /** Whether the newest work of a user runs first. */
  readonly newestFirst?: boolean;
}

interface Flow {
  /** The time that it has had, on a clock on which all users advance alike. */
  usedMs: number;
  readonly waiting: (() => void)[];
}

/**
 * Guarantees: requests of one user start in their order, or the newest first; no user waits longer than
 * others need for one request each. A request starts when the one before it has ended or waits for something
 * outside of the event loop's turn (the disk, a webhook).
 */
export class FairQueue {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  readonly #isNewestFirst: boolean;
  readonly #flows = new Map<string, Flow>();
  #waiting = 0;
  /** The virtual time at which an idle user starts, in milliseconds. */
  #virtualMs = 0;
  #spentMs = 0;
  #isTurnOpen = false;
  #isDraining = false;

  constructor(clock: Clock, { sliceMs = sliceMsDefault, newestFirst = false }: FairQueueOptions = {}) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#isNewestFirst = newestFirst;
  }

  /** Starts the work in its turn, mostly at once. */
  run<T>(user: string, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const flow = this.#flow(user);
    // A user that was idle does not catch up the time that others used meanwhile.
    if (flow.waiting.length === 0) flow.usedMs = Math.max(flow.usedMs, this.#virtualMs);
    flow.waiting.push(() => void work().then(resolve, reject));
    this.#waiting++;
    if (!this.#isDraining && this.#spentMs < this.#sliceMs) void this.#drain();
    return promise;
  }

  /** Starts requests one after the other until the slice is used up; the next turn goes on with the rest. */
  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#waiting > 0 && this.#spentMs < this.#sliceMs) await this.#startNext();
    this.#isDraining = false;
    if (this.#waiting > 0) this.#openTurn();
  }

  #flow(user: string): Flow {
    const known = this.#flows.get(user);
    if (known !== undefined) return known;
    if (this.#flows.size >= flowsMax) this.#forgetIdle();
    const flow: Flow = { usedMs: this.#virtualMs, waiting: [] };
    this.#flows.set(user, flow);
    return flow;
  }

  #forgetIdle(): void {
    for (const [user, { waiting }] of this.#flows) if (waiting.length === 0) this.#flows.delete(user);
  }

  #openTurn(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    this.#clock.defer(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTurnOpen = false;
    this.#spentMs = 0;
    if (this.#waiting > 0 && !this.#isDraining) void this.#drain();
  }

  /** Measures the request until everything that is ready has run, which is mostly all of it. */
  async #startNext(): Promise<void> {
    let next: Flow | undefined;
    for (const flow of this.#flows.values())
      if (flow.waiting.length > 0 && (next === undefined || flow.usedMs < next.usedMs)) next = flow;
    const start = this.#isNewestFirst ? next?.waiting.pop() : next?.waiting.shift();
    if (next === undefined || start === undefined) return;
    this.#waiting--;
    this.#virtualMs = Math.max(this.#virtualMs, next.usedMs);
    this.#openTurn();
    const startMs = this.#clock.monotonic();
    start();
    await microtasksDone();
    const ms = this.#clock.monotonic() - startMs;
    next.usedMs += ms;
    this.#spentMs += ms;
  }
}
