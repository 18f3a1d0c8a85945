import { LinkedList, type ListEntry } from "./linked-list.ts";
import type { Priority } from "./priority.ts";
import type { QueuedKey } from "./queued-key.ts";

/** The ready keys that share a turn, first come first served. */
interface Flow {
  readonly name: string;
  readonly keys: LinkedList<QueuedKey>;
}

/**
 * The ready keys of one priority. Flows take turns, first come first served within each; every operation is
 * O(1).
 */
export class PriorityLevel {
  readonly priority: Priority;
  /** How often another level was served since this one was, while this one had keys. */
  passes = 0;
  readonly #flows = new Map<string, ListEntry<Flow>>();
  /** The flow whose turn it is comes first; a new one comes last, so no flow waits longer because of it. */
  readonly #turns = new LinkedList<Flow>();
  /** All keys of the level, the first to arrive first. */
  readonly #arrivals = new LinkedList<QueuedKey>();

  constructor(priority: Priority) {
    this.priority = priority;
  }

  get size(): number {
    return this.#arrivals.size;
  }

  /** Since when the key that arrived first is ready. */
  get oldestMs(): number | undefined {
    return this.#arrivals.first?.ready?.sinceMs;
  }

  add(item: QueuedKey, flow: string, sinceMs: number): void {
    const turn = this.#flows.get(flow) ?? this.#openFlow(flow);
    item.ready = {
      priority: this.priority,
      sinceMs,
      flow,
      flowEntry: turn.value.keys.append(item),
      arrivalEntry: this.#arrivals.append(item),
    };
  }

  /**
   * The first key of the flow whose turn it is; the turn goes to the next flow. The key stays in the level
   * until it is removed.
   */
  next(): QueuedKey | undefined {
    const flow = this.#turns.first;
    if (flow === undefined) return undefined;
    this.#moveToEnd(flow);
    return flow.keys.first;
  }

  remove(item: QueuedKey): void {
    const { ready } = item;
    if (ready === undefined) return;
    item.ready = undefined;
    this.#arrivals.remove(ready.arrivalEntry);
    const turn = this.#flows.get(ready.flow);
    turn?.value.keys.remove(ready.flowEntry);
    if (turn?.value.keys.size === 0) this.#closeFlow(turn);
  }

  clear(): void {
    for (let item = this.#arrivals.first; item !== undefined; item = this.#arrivals.first) this.remove(item);
  }

  #openFlow(name: string): ListEntry<Flow> {
    const turn = this.#turns.append({ name, keys: new LinkedList() });
    this.#flows.set(name, turn);
    return turn;
  }

  #closeFlow(turn: ListEntry<Flow>): void {
    this.#turns.remove(turn);
    this.#flows.delete(turn.value.name);
  }

  #moveToEnd(flow: Flow): void {
    const turn = this.#flows.get(flow.name);
    if (turn === undefined) return;
    this.#turns.remove(turn);
    this.#flows.set(flow.name, this.#turns.append(flow));
  }
}
