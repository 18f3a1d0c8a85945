import type { FairLevel, Flow } from "./fair-level.ts";
import type { Priority } from "./priority.ts";

/**
 * Everything that a queue knows of one key. One object with links in it instead of an entry in each of five maps: a hundred
 * thousand keys cost one allocation each.
 */
export class QueueEntry {
  readonly key: string;
  /** Where it waits; undefined when it is not ready. */
  level: FairLevel | undefined = undefined;
  flow: Flow | undefined = undefined;
  /** Neighbours among the ready keys of its flow, and among those of its level by arrival. */
  flowPrevious: QueueEntry | undefined = undefined;
  flowNext: QueueEntry | undefined = undefined;
  olderInLevel: QueueEntry | undefined = undefined;
  newerInLevel: QueueEntry | undefined = undefined;
  readyMs = 0;
  isRunning = false;
  startedMs = 0;
  /** How urgent it was when it was taken: a retry is as urgent as what it retries. */
  priority: Priority = "normal";
  /** Added while being worked on. */
  again: Priority | undefined = undefined;
  /** When it becomes ready by itself, and its place in the heap of those that do; −1: it does not. */
  dueMs = 0;
  duePriority: Priority = "normal";
  heapIndex = -1;
  failures = 0;
  /** Of a rate limit: the moment up to which its runs are spent. */
  spentUntilMs = 0;

  constructor(key: string) {
    this.key = key;
  }
}
