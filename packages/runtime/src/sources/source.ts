import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Priority } from "../queue/priority.ts";
import type { CacheReader } from "../controller/watch-definition.ts";
import type { Source, SourcePorts } from "../controller/source.ts";

/** Which keys a source wakes; default: all objects of the controller's kind that are in the cache. */
export type KeysOf = (cache: CacheReader) => readonly NamespacedName[];

/** The name and namespace of an object, to name it in `wakes` and sources. */
export function keyOf(object: Stored<KubeObject>): NamespacedName {
  const { name, namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

/**
 * The `run` of a source that goes on where a failure has cut it off: what `begin` makes at the first run with
 * some ports is handed to all runs with them, so each controller that has the source has a state of its own.
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
  const keys = keysOf?.(cache) ?? cache.list(kind, { allNamespaces: true }).map(keyOf);
  for (const key of keys) wake(key, priority);
}
