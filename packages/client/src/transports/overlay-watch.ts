import type { UnstructuredObject, WatchEventType, WatchFrame } from "@setpoint/apimachinery";
import type { OverlaySelection } from "./overlay-selection.ts";
import { asObject, type PretendedObject, withRevision } from "./pretended-objects.ts";
import { isLater, type WorldRevisions } from "./world-revision.ts";

const initialEventsEnd = "k8s.io/initial-events-end";

export interface OverlayWatchOptions {
  readonly selection: OverlaySelection;
  readonly revisions: WorldRevisions;
  /** What was pretended of the watched collection. */
  pretended(): readonly PretendedObject[];
  /** The server tells a change of an object that was pretended to be written. */
  onServerChange(object: UnstructuredObject, isGone: boolean): void;
  /** The stream begins with the present objects. */
  readonly isInitial: boolean;
}

/** A watch of the server with the pretended writes among its frames. */
export class OverlayWatch implements AsyncIterableIterator<WatchFrame> {
  readonly #inner: AsyncIterator<WatchFrame>;
  readonly #options: OverlayWatchOptions;
  readonly #onEnd: () => void;
  readonly #frames: WatchFrame[] = [];
  readonly #told = new Set<string>();
  #isInitial: boolean;
  #newest = "";
  #isPulling = false;
  #end: { readonly error?: unknown } | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(inner: AsyncIterable<WatchFrame>, options: OverlayWatchOptions, onEnd: () => void) {
    this.#inner = inner[Symbol.asyncIterator]();
    this.#options = options;
    this.#isInitial = options.isInitial;
    this.#onEnd = onEnd;
  }

  /** Tells a pretended write; `before` is what the object was, undefined when it is new. */
  push({ object, revision, place }: PretendedObject, before: UnstructuredObject | undefined): void {
    const isTold = this.#told.has(`${place.namespace}/${place.name}`);
    // Present objects that were not told yet come with the end of the initial events, in the state they have
    // then.
    if (this.#isInitial && !isTold) return;
    if (object !== undefined && this.#options.selection.matches(object)) {
      return this.#push(before === undefined ? "ADDED" : "MODIFIED", object, revision);
    }
    const last = object ?? before;
    // A stream that did not begin with the present objects may have told it on an earlier connection.
    if (last !== undefined && (isTold || !this.#options.isInitial)) this.#push("DELETED", last, revision);
  }

  async next(): Promise<IteratorResult<WatchFrame>> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return { done: false, value: frame };
      if (this.#end !== undefined) return this.#finish(this.#end);
      const awake = this.#wake.promise;
      if (!this.#isPulling) void this.#pull();
      await awake;
    }
  }

  async return(): Promise<IteratorResult<WatchFrame>> {
    this.#end = {};
    this.#onEnd();
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finish({ error }: { readonly error?: unknown }): IteratorResult<WatchFrame> {
    this.#onEnd();
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  async #pull(): Promise<void> {
    this.#isPulling = true;
    try {
      const result = await this.#inner.next();
      if (result.done === true) this.#end ??= {};
      else this.#take(result.value);
    } catch (error) {
      this.#end ??= { error };
    }
    this.#isPulling = false;
    this.#awake();
  }

  #awake(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }

  #take(frame: WatchFrame): void {
    const object = asObject(frame.object);
    if (frame.type === "ERROR" || object === undefined) {
      this.#frames.push(frame);
      return;
    }
    if (frame.type === "BOOKMARK") return this.#takeBookmark(frame, object);
    const { name = "", namespace = "" } = object.metadata;
    const entry = this.#options.pretended().find((each) => isAt(each, namespace, name));
    if (entry === undefined) return this.#push(frame.type, object, undefined);
    this.#options.onServerChange(object, frame.type === "DELETED");
    if (!this.#isInitial) return;
    this.#tellInitial(entry);
  }

  #takeBookmark(frame: WatchFrame, object: UnstructuredObject): void {
    if (this.#isInitial && object.metadata.annotations?.[initialEventsEnd] === "true") {
      for (const entry of this.#options.pretended()) this.#tellInitial(entry);
      this.#isInitial = false;
    }
    this.#push(frame.type, object, undefined);
  }

  #tellInitial(entry: PretendedObject): void {
    const { object, place } = entry;
    const key = `${place.namespace}/${place.name}`;
    if (object === undefined || this.#told.has(key) || !this.#options.selection.matches(object)) return;
    this.#push("ADDED", object, entry.revision);
  }

  /** `revision`: of the pretended world; undefined: the object has the server's. */
  #push(type: WatchEventType, object: UnstructuredObject, revision: string | undefined): void {
    const { revisions, selection } = this.#options;
    const own = revision ?? revisions.after(this.#newest, object.metadata.resourceVersion ?? "");
    if (this.#newest === "" || isLater(own, this.#newest)) this.#newest = own;
    this.#note(type, object);
    this.#frames.push({ type, object: selection.shown(withRevision(object, own)) });
    this.#awake();
  }

  /** Which objects are in view. */
  #note(type: WatchEventType, { metadata: { namespace = "", name = "" } }: UnstructuredObject): void {
    if (type === "DELETED") this.#told.delete(`${namespace}/${name}`);
    else if (type !== "BOOKMARK") this.#told.add(`${namespace}/${name}`);
  }
}

function isAt({ place }: PretendedObject, namespace: string, name: string): boolean {
  return place.name === name && place.namespace === namespace;
}
