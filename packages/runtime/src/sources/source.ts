import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Clock, Logger, Random } from "@setpoint/host";
import type { CacheReader } from "../controller/controller-definition.ts";
import type { Priority } from "../queue/priority.ts";

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

/** Which keys a source wakes; default: all objects of the controller's kind that are in the cache. */
export type KeysOf = (cache: CacheReader) => readonly NamespacedName[];

/** The name and namespace of an object, to name it in `wakes` and sources. */
export function keyOf(object: Stored<KubeObject>): NamespacedName {
  const { name, namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

/**
 * The `run` of a source that goes on where a failure has cut it off: what `begin` makes at the first run with some ports is handed
 * to all runs with them, so each controller that has the source has a state of its own.
 */
export function resumable<State extends object>(
  begin: (ports: SourcePorts) => State,
  run: (ports: SourcePorts, state: State) => Promise<void>,
): Source["run"] {
  const states = new WeakMap<SourcePorts, State>();
  return (ports) => {
    const state = states.get(ports) ?? begin(ports);
    states.set(ports, state);
    return run(ports, state);
  };
}

/** Wakes the keys that `keysOf` names. */
export function wakeAll({ cache, kind, wake }: SourcePorts, keysOf: KeysOf | undefined, priority: Priority): void {
  const keys = keysOf?.(cache) ?? cache.list(kind).map(keyOf);
  for (const key of keys) wake(key, priority);
}
