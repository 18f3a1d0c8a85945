import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Clock, Logger, Random } from "@setpoint/host";

/**
 * What the function of a daemon gets with the object: its abort signal, the clients and the current object.
 */
export interface DaemonContext<T extends KubeObject = KubeObject> {
  /** Aborts when the object goes, is being deleted or is paused, and when the manager stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Resolves after so many milliseconds; rejects with the signal's reason when it aborts before. */
  sleep(this: void, delayMs: number): Promise<void>;
  /** Writes check the lease; they are none of a reconcile's, so better `wake()` and let it write. */
  readonly client: Client;
  /** The object as the cache shows it now. */
  current(this: void): Stored<T>;
  /** Runs the object's reconcile. */
  wake(this: void): void;
}

/**
 * Runs beside an object for as long as it is there. Returning ends it for this object; what it throws is
 * logged and starts it again: after a back-off, after a `TemporaryError`'s delay, or never after a
 * `TerminalError`.
 */
export type Daemon<T extends KubeObject = KubeObject> = (object: Stored<T>, context: DaemonContext<T>) => Promise<void>;
