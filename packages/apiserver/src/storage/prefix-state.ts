import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { PrefixContents } from "./prefix-contents.ts";
import { SortedPaths } from "./sorted-paths.ts";
import type { StorageEvent } from "./storage.ts";

/** The receiver of an event when it becomes visible. */
export interface StorageWatcher {
  readonly onEvent: (event: StorageEvent) => void;
}

/** In the place of events that were dropped. */
const droppedEvent: StorageEvent = Object.freeze({
  kind: "delete",
  revision: 0,
  path: "",
  object: Object.freeze({ apiVersion: "", kind: "", metadata: {} }),
});

/** The visible state of one prefix: objects, their order, the events of its recent past and its watchers. */
export class PrefixState {
  readonly watchers: Set<StorageWatcher> = new Set();
  /** Decided but not yet durable; `undefined` is a deletion. Empty in a storage that is not durable. */
  readonly head: Map<string, UnstructuredObject | undefined> = new Map();
  #objects: ReadonlyMap<string, UnstructuredObject>;
  /** The same, once no other reader holds them. */
  #own: Map<string, UnstructuredObject> | undefined;
  readonly #paths: SortedPaths;
  #events: StorageEvent[] = [];
  /** Events before this index were dropped; the array is cut when an eighth of it is dead. */
  #firstEvent = 0;
  #all: readonly UnstructuredObject[] | undefined;

  /** The contents are others', too. */
  constructor(contents?: PrefixContents) {
    this.#objects = contents?.objects ?? new Map();
    this.#paths = new SortedPaths(contents?.paths);
    this.#all = contents?.all;
  }

  /** The visible state of a path. */
  get(path: string): UnstructuredObject | undefined {
    return this.#objects.get(path);
  }

  /** The newest decided state of a path, durable or not. */
  atHead(path: string): UnstructuredObject | undefined {
    return this.head.size > 0 && this.head.has(path) ? this.head.get(path) : this.#objects.get(path);
  }

  load(path: string, object: UnstructuredObject): void {
    this.#writable().set(path, object);
    this.#paths.add(path);
  }

  /** Paths and objects, in the order of the paths. */
  entries(): readonly (readonly [string, UnstructuredObject])[] {
    return this.#paths.all().flatMap((path) => {
      const object = this.#objects.get(path);
      return object === undefined ? [] : [[path, object] as const];
    });
  }

  /** Makes an event visible and sends it to every watch, also when another watch throws. */
  publish(event: StorageEvent, onFault: (error: unknown) => void): void {
    this.#all = undefined;
    if (event.kind === "delete") {
      this.#writable().delete(event.path);
      this.#paths.remove(event.path);
    } else {
      this.#writable().set(event.path, event.object);
      if (event.previous === undefined) this.#paths.add(event.path);
    }
    this.#events.push(event);
    for (const watcher of this.watchers) guarded(() => watcher.onEvent(event), onFault);
  }

  /** The list is shared between callers until the prefix changes. */
  list(pathPrefix: string): readonly UnstructuredObject[] {
    if (pathPrefix !== "") return this.#objectsAt(this.#paths.startingWith(pathPrefix));
    this.#all ??= this.#objectsAt(this.#paths.all());
    return this.#all;
  }

  /** The past state, by undoing the events after `revision`. */
  listAt(pathPrefix: string, revision: number): readonly UnstructuredObject[] {
    const undone = this.#undoneSince(revision);
    if (undone.size === 0) return this.list(pathPrefix);
    const paths = new Set(this.#paths.startingWith(pathPrefix));
    for (const path of undone.keys()) if (path.startsWith(pathPrefix)) paths.add(path);
    const objects: UnstructuredObject[] = [];
    for (const path of [...paths].sort((a, b) => (a < b ? -1 : 1))) {
      const object = undone.has(path) ? undone.get(path) : this.#objects.get(path);
      if (object !== undefined) objects.push(object);
    }
    return objects;
  }

  eventsAfter(revision: number): readonly StorageEvent[] {
    let index = this.#events.length;
    while (index > this.#firstEvent && (this.#events[index - 1]?.revision ?? 0) > revision) index--;
    return this.#events.slice(index);
  }

  dropEventsUpTo(revision: number): void {
    while (this.#firstEvent < this.#events.length && (this.#events[this.#firstEvent]?.revision ?? 0) <= revision) {
      // It must not hold its objects until the array is cut.
      this.#events[this.#firstEvent] = droppedEvent;
      this.#firstEvent++;
    }
    if (this.#firstEvent * 8 < this.#events.length) return;
    this.#events = this.#events.slice(this.#firstEvent);
    this.#firstEvent = 0;
  }

  #writable(): Map<string, UnstructuredObject> {
    this.#own ??= new Map(this.#objects);
    this.#objects = this.#own;
    return this.#own;
  }

  #undoneSince(revision: number): Map<string, UnstructuredObject | undefined> {
    const undone = new Map<string, UnstructuredObject | undefined>();
    for (const event of this.eventsAfter(revision).toReversed()) undone.set(event.path, event.previous);
    return undone;
  }

  #objectsAt(paths: readonly string[]): readonly UnstructuredObject[] {
    const objects: UnstructuredObject[] = [];
    for (const path of paths) {
      const object = this.#objects.get(path);
      if (object !== undefined) objects.push(object);
    }
    return objects;
  }
}

/** Calls what belongs to another part. */
export function guarded(call: () => void, onFault: (error: unknown) => void): void {
  try {
    call();
  } catch (error) {
    onFault(error);
  }
}
