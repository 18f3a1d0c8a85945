import type { NamespacedName } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Clock, Logger, Random } from "@setpoint/host";
import type { Priority } from "../queue/priority.ts";
import type { CacheReader } from "./watch-definition.ts";

/** What a source is given while it runs. */
export interface SourcePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborts when the controller stops; `run` ends then. */
  readonly signal: AbortSignal;
  /** The controller's caches, which are complete. */
  readonly cache: CacheReader;
  /** The kind of the controller's objects. */
  readonly kind: KindRef;
  /** Wakes a key; false: it is another process's with shared keys, or nobody's just now, and is not woken here. */
  wake(this: void, key: NamespacedName, priority?: Priority): boolean;
  /** It works (again): the next failure is the first one. */
  works(this: void): void;
}

/**
 * Something besides the watches of kinds that wakes keys of a controller. Only the leader runs it, and it may wake too often: a
 * reconcile looks at what is there and never at what woke it.
 */
export interface Source {
  /** Names it in logs, metrics and health; unique in its controller. */
  readonly name: string;
  /** Runs until the signal aborts. What it throws is logged and counted, and it runs again after a back-off, with the same ports. */
  run(ports: SourcePorts): Promise<void>;
}
