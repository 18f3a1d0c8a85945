import type { KeyTable } from "./key-table.ts";
import type { Priority } from "./priority.ts";
import { none, type SlotList } from "./slot-list.ts";

/** The ready keys that share a turn, from the first to the last. */
export interface Flow extends SlotList {
  readonly name: string;
  /** Its neighbours in the circle of those that have keys. */
  next: Flow;
  previous: Flow;
}

/** The ready keys of one priority. Flows take turns, first come first served within each; every operation is O(1). */
export class FairLevel {
  readonly priority: Priority;
  /** What the table has for it; from 1, the most urgent first. */
  readonly number: number;
  /** How often another level was served since this one was, while this one had keys. */
  passes = 0;
  readonly #table: KeyTable;
  #size = 0;
  readonly #flows = new Map<string, Flow>();
  /** Whose turn it is; the circle's last is its predecessor. */
  #turn: Flow | undefined;
  /** All its keys, the oldest first. */
  readonly #arrivals: SlotList = { first: none, last: none };

  constructor(priority: Priority, number: number, table: KeyTable) {
    this.priority = priority;
    this.number = number;
    this.#table = table;
  }

  get size(): number {
    return this.#size;
  }

  /** Since when the key that has waited longest is here. */
  get oldestMs(): number {
    const { first } = this.#arrivals;
    return first === none ? 0 : this.#table.readyMs.get(first);
  }

  add(slot: number, flowName: string): void {
    const flow = this.#flows.get(flowName) ?? this.#open(flowName);
    const { level, inFlow, inLevel } = this.#table;
    level.set(slot, this.number);
    this.#table.setFlow(slot, flow);
    inFlow.append(flow, slot);
    inLevel.append(this.#arrivals, slot);
    this.#size++;
  }

  /** The first key of the flow whose turn it is; the turn goes on to the next flow. */
  take(): number | undefined {
    const flow = this.#turn;
    if (flow === undefined) return undefined;
    this.#turn = flow.next;
    const { first } = flow;
    this.remove(first);
    return first;
  }

  remove(slot: number): void {
    const flow = this.#table.flowOf(slot);
    if (flow === undefined) return;
    const { level, inFlow, inLevel } = this.#table;
    inFlow.remove(flow, slot);
    inLevel.remove(this.#arrivals, slot);
    level.set(slot, 0);
    this.#size--;
    if (flow.first === none) this.#close(flow);
  }

  clear(): void {
    while (this.#arrivals.first !== none) this.remove(this.#arrivals.first);
  }

  /** A new flow is the last in the circle: nobody whose turn was to come waits longer for it. */
  #open(name: string): Flow {
    const flow = { name, first: none, last: none } as Partial<Flow> as Flow;
    const turn = this.#turn ?? flow;
    // A circle of one is its own neighbour on both sides.
    flow.previous = this.#turn === undefined ? flow : turn.previous;
    flow.next = turn;
    flow.previous.next = flow;
    turn.previous = flow;
    this.#turn = turn;
    this.#flows.set(name, flow);
    return flow;
  }

  #close(flow: Flow): void {
    this.#flows.delete(flow.name);
    if (this.#turn === flow) this.#turn = flow.next === flow ? undefined : flow.next;
    flow.previous.next = flow.next;
    flow.next.previous = flow.previous;
  }
}
