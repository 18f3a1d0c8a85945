import type { Priority } from "./priority.ts";
import type { QueueEntry } from "./queue-entry.ts";

/** The ready keys that share a turn, as a list from the first to the last. */
export interface Flow {
  readonly name: string;
  first: QueueEntry | undefined;
  last: QueueEntry | undefined;
  /** Its neighbours in the circle of those that have keys. */
  next: Flow;
  previous: Flow;
}

/** The ready keys of one priority. Flows take turns, first come first served within each; every operation is O(1). */
export class FairLevel {
  readonly priority: Priority;
  /** How often another level was served since this one was, while this one had keys. */
  passes = 0;
  #size = 0;
  readonly #flows = new Map<string, Flow>();
  /** Whose turn it is; the circle's last is its predecessor. */
  #turn: Flow | undefined;
  #oldest: QueueEntry | undefined;
  #newest: QueueEntry | undefined;

  constructor(priority: Priority) {
    this.priority = priority;
  }

  get size(): number {
    return this.#size;
  }

  /** Since when the key that has waited longest is here. */
  get oldestMs(): number {
    return this.#oldest?.readyMs ?? 0;
  }

  add(entry: QueueEntry, flowName: string): void {
    const flow = this.#flows.get(flowName) ?? this.#open(flowName);
    entry.level = this;
    entry.flow = flow;
    entry.flowPrevious = flow.last;
    if (flow.last === undefined) flow.first = entry;
    else flow.last.flowNext = entry;
    flow.last = entry;
    this.#append(entry);
    this.#size++;
  }

  /** The first key of the flow whose turn it is; the turn goes on to the next flow. */
  take(): QueueEntry | undefined {
    const flow = this.#turn;
    if (flow?.first === undefined) return undefined;
    this.#turn = flow.next;
    const entry = flow.first;
    this.remove(entry);
    return entry;
  }

  remove(entry: QueueEntry): void {
    const { flow, flowPrevious, flowNext, olderInLevel, newerInLevel } = entry;
    if (flow === undefined) return;
    if (flowPrevious === undefined) flow.first = flowNext;
    else flowPrevious.flowNext = flowNext;
    if (flowNext === undefined) flow.last = flowPrevious;
    else flowNext.flowPrevious = flowPrevious;
    if (olderInLevel === undefined) this.#oldest = newerInLevel;
    else olderInLevel.newerInLevel = newerInLevel;
    if (newerInLevel === undefined) this.#newest = olderInLevel;
    else newerInLevel.olderInLevel = olderInLevel;
    entry.level = entry.flow = undefined;
    entry.flowPrevious = entry.flowNext = entry.olderInLevel = entry.newerInLevel = undefined;
    this.#size--;
    if (flow.first === undefined) this.#close(flow);
  }

  clear(): void {
    while (this.#oldest !== undefined) this.remove(this.#oldest);
  }

  #append(entry: QueueEntry): void {
    entry.olderInLevel = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newerInLevel = entry;
    this.#newest = entry;
  }

  /** A new flow is the last in the circle: nobody whose turn was to come waits longer for it. */
  #open(name: string): Flow {
    const flow = { name, first: undefined, last: undefined } as Partial<Flow> as Flow;
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
