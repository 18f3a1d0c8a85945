import type { Clock, Timer } from "@setpoint/host";
import { DelayHeap } from "./delay-heap.ts";
import type { Priority } from "./priority.ts";
import type { Delay, QueuedKey } from "./queued-key.ts";

/** Keys that become ready later. One timer waits for the delay that ends first. */
export class DelayingQueue {
  readonly #clock: Clock;
  readonly #onDue: (item: QueuedKey, priority: Priority) => void;
  readonly #heap = new DelayHeap<Delay>();
  #timer: Timer | undefined;
  /** When the timer fires. */
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDue: (item: QueuedKey, priority: Priority) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Of several delays of a key the earliest counts, with its priority. */
  add(item: QueuedKey, dueMs: number, priority: Priority): void {
    if (item.delay !== undefined) {
      if (item.delay.dueMs <= dueMs) return;
      this.#heap.remove(item.delay);
    }
    item.delay = { item, dueMs, priority, index: -1 };
    this.#heap.add(item.delay);
    this.#setTimer();
  }

  remove(item: QueuedKey): void {
    if (item.delay === undefined) return;
    this.#drop(item.delay);
    this.#setTimer();
  }

  close(): void {
    this.#timer?.cancel();
    for (let delay = this.#heap.first; delay !== undefined; delay = this.#heap.first) this.#drop(delay);
  }

  #drop(delay: Delay): void {
    this.#heap.remove(delay);
    delay.item.delay = undefined;
  }

  #setTimer(): void {
    const dueMs = this.#heap.first?.dueMs ?? Number.POSITIVE_INFINITY;
    if (dueMs === this.#timerMs) return;
    this.#timer?.cancel();
    this.#timerMs = dueMs;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.setTimer(() => this.#onTimer(), dueMs - this.#clock.monotonic());
  }

  #onTimer(): void {
    // The timer has fired, perhaps a moment too early: `#setTimer` must start another one.
    this.#timerMs = Number.NaN;
    const nowMs = this.#clock.monotonic();
    for (let delay = this.#heap.first; delay !== undefined && delay.dueMs <= nowMs; delay = this.#heap.first) {
      this.#drop(delay);
      this.#onDue(delay.item, delay.priority);
    }
    this.#setTimer();
  }
}
