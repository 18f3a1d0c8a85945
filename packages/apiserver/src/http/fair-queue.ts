/**
 * Whose request is handled next: priority and fairness in its simplest useful form. Handling is mostly synchronous, so what users share
 * is the time of one loop. It is spent in slices; when one is used up, requests wait for the next, and the user who has had least time
 * goes first.
 */
import type { Clock } from "@setpoint/host";

/** What requests may use of one turn of the loop before the connections get their turn, too. */
const sliceMs = 8;
/** Users whose past use is remembered. */
const flowsMax = 1_000;

interface Waiting {
  readonly start: () => void;
}

interface Flow {
  /** The time that it has had, on a clock on which all users advance alike. */
  usedMs: number;
  readonly waiting: Waiting[];
}

/** Guarantees: requests of one user start in their order; no user waits longer than others need for one request each. */
export class FairQueue {
  readonly #clock: Clock;
  readonly #flows = new Map<string, Flow>();
  #waiting = 0;
  /** Where a user begins who has had nothing lately. */
  #virtualMs = 0;
  #spentMs = 0;
  #isTurnOpen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts the work in its turn, mostly at once. */
  run<T>(user: string, work: () => Promise<T>): Promise<T> {
    if (this.#waiting === 0 && this.#spentMs < sliceMs) return this.#measured(this.#flow(user), work);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const flow = this.#flow(user);
    const start = (): void => void this.#measured(flow, work).then(resolve, reject);
    // Whoever was idle has no claim to the time that others had meanwhile.
    if (flow.waiting.length === 0) flow.usedMs = Math.max(flow.usedMs, this.#virtualMs);
    flow.waiting.push({ start });
    this.#waiting++;
    this.#openTurn();
    return promise;
  }

  #measured<T>(flow: Flow, work: () => Promise<T>): Promise<T> {
    this.#openTurn();
    const startMs = this.#clock.monotonic();
    try {
      return work();
    } finally {
      const ms = this.#clock.monotonic() - startMs;
      flow.usedMs += ms;
      this.#spentMs += ms;
    }
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
    while (this.#waiting > 0 && this.#spentMs < sliceMs) this.#startNext();
    if (this.#waiting > 0) this.#openTurn();
  }

  #startNext(): void {
    let next: Flow | undefined;
    for (const flow of this.#flows.values())
      if (flow.waiting.length > 0 && (next === undefined || flow.usedMs < next.usedMs)) next = flow;
    const first = next?.waiting.shift();
    if (next === undefined || first === undefined) return;
    this.#waiting--;
    this.#virtualMs = Math.max(this.#virtualMs, next.usedMs);
    first.start();
  }
}
