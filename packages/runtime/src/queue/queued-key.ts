import type { ListEntry } from "./linked-list.ts";
import type { Priority } from "./priority.ts";

/** Everything that a work queue knows of one key. It is dropped when nothing of it is left to remember. */
export interface QueuedKey {
  readonly key: string;
  /** Set while the key can be taken. */
  ready: ReadyState | undefined;
  /** The monotonic time at which it was taken; set until it is done. */
  runningSinceMs: number | undefined;
  /** The priority it was taken with last: a retry is as urgent as what it retries. */
  lastPriority: Priority;
  /** Set when the key was added while it ran: it becomes ready again with this priority when it is done. */
  dirty: Priority | undefined;
  /** Set while a delay runs, at whose end the key is added. */
  delay: Delay | undefined;
  /** Failed runs in a row. */
  failures: number;
  /** By a rate limit: up to this monotonic time the key has used its runs. */
  usedUntilMs: number;
}

export interface ReadyState {
  readonly priority: Priority;
  readonly sinceMs: number;
  readonly flow: string;
  /** Its entry among the keys of its flow, and among all keys of its priority. */
  readonly flowEntry: ListEntry<QueuedKey>;
  readonly arrivalEntry: ListEntry<QueuedKey>;
}

export interface Delay {
  readonly item: QueuedKey;
  readonly dueMs: number;
  readonly priority: Priority;
  /** Its place in the heap of delays. */
  index: number;
}

export function createQueuedKey(key: string): QueuedKey {
  return {
    key,
    ready: undefined,
    runningSinceMs: undefined,
    lastPriority: "normal",
    dirty: undefined,
    delay: undefined,
    failures: 0,
    usedUntilMs: 0,
  };
}
