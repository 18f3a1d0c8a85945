import type { NamespacedName } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Clock, Logger, Random } from "@setpoint/host";
import type { Priority } from "../queue/priority.ts";
import type { CacheReader } from "./watch-definition.ts";

/** What the framework passes to a running source. */
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
  /**
   * Enqueues a key. False: another process owns the key, or currently no process does, and it is not enqueued
   * here.
   */
  wake(this: void, key: NamespacedName, priority?: Priority): boolean;
  /** The source works (again): resets its back-off. */
  works(this: void): void;
}

/**
 * A source of keys besides the watches of kinds. Only the leader runs it. It may enqueue too often: a
 * reconcile reads the current state and never the cause.
 */
export interface Source {
  /** The name in logs, metrics and health; unique in its controller. */
  readonly name: string;
  /**
   * Runs until the signal aborts. An error is logged and counted, and the source restarts after a back-off
   * with the same ports.
   */
  run(ports: SourcePorts): Promise<void>;
}
