import {
  apiVersionOf,
  failure,
  isSetpointError,
  type UnstructuredObject,
  type WatchFrame,
} from "@setpoint/apimachinery";
import type { Timer } from "@setpoint/host";
import { pathPrefixOf } from "../registry/object-key.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { inShard, parseSelection, type Selection } from "../read/selection.ts";
import type { ResourceView } from "../registry/resource-view.ts";
import { initializing } from "../response/api-errors.ts";
import { waitForRevision } from "../read/wait-for-revision.ts";
import { parseWatchOptions, type WatchOptions } from "../request/list-options.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import type { StorageEvent } from "../storage/storage.ts";
import { FrameQueue } from "./frame-queue.ts";
import { frameOf, previousAt } from "./watch-frames.ts";
import type { WatchSet } from "./watch-set.ts";

/** A watch that asks for bookmarks gets one about this often, and one shortly before its end. */
const bookmarkPeriodMs = 60_000;
const bookmarkBeforeEndMs = 2_000;
/**
 * Without timeoutSeconds a watch lasts between one and two of these, so that clients do not all return at
 * once.
 */
const watchDurationMsMin = 1_800_000;

/** How a watch shows objects: as they are, as partial metadata, as rows of a table. */
export interface WatchForm {
  show(object: UnstructuredObject): object;
  /** The empty list of the kind, in base64, for the bookmark that ends the initial events. */
  readonly listBlueprint: string;
}

export async function openWatch(
  context: RegistryContext,
  served: ServedRequest,
  form: WatchForm,
  open: WatchSet,
): Promise<AsyncIterable<WatchFrame>> {
  const { definition, request } = served;
  const { storage, host } = context;
  const options = parseWatchOptions(request.query, definition.resource);
  const chosen = parseSelection(definition, options, served.attributes.name);
  const selection = context.features.shardedListAndWatch === true ? inShard(chosen, options) : chosen;
  const wanted = options.resourceVersion ?? 0;
  if (wanted > storage.revision && options.sendInitialEvents === true) {
    await waitForRevision(storage, host.clock, definition.storagePrefix, wanted);
  }
  return new ResourceWatch(context, served, options, selection, form, open).start();
}

/** One watch of a resource, from the storage's events to frames. */
class ResourceWatch {
  readonly #context: RegistryContext;
  readonly #served: ServedRequest;
  readonly #definition: ResourceDefinition;
  readonly #view: ResourceView;
  readonly #options: WatchOptions;
  readonly #selection: Selection;
  readonly #form: WatchForm;
  readonly #pathPrefix: string;
  readonly #queue: FrameQueue;
  readonly #open: WatchSet;
  readonly #timers = new Set<Timer>();
  readonly #onAbort = (): void => this.#queue.fail(this.#served.signal.reason);
  /** The push that the next one waits for. */
  #last: Promise<void> = Promise.resolve();
  #storageWatch: { cancel(): void } | undefined;

  constructor(
    context: RegistryContext,
    served: ServedRequest,
    options: WatchOptions,
    selection: Selection,
    form: WatchForm,
    open: WatchSet,
  ) {
    this.#context = context;
    this.#served = served;
    this.#definition = served.definition;
    this.#view = context.view(served.definition);
    this.#options = options;
    this.#selection = selection;
    this.#form = form;
    this.#pathPrefix = pathPrefixOf(served.definition, served.attributes.namespace);
    this.#open = open;
    this.#queue = new FrameQueue(() => this.#close(), context.watchBytesMax);
  }

  start(): AsyncIterable<WatchFrame> {
    const { signal } = this.#served;
    this.#open.add(this.#definition.group, this.#definition.resource, this.#queue);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
    if (!this.#begin()) this.#queue.end();
    if (!this.#queue.isEnded) this.#startTimers();
    return this.#queue;
  }

  /** Past events or the present state, then what comes; false when the start lies before the history. */
  #begin(): boolean {
    const { storage } = this.#context;
    const { resourceVersion = 0, sendInitialEvents } = this.#options;
    const showsState = sendInitialEvents ?? resourceVersion === 0;
    const after = showsState
      ? storage.revision
      : sendInitialEvents === false && resourceVersion === 0
        ? storage.revision
        : resourceVersion;
    if (showsState) this.#pushState();
    try {
      this.#storageWatch = storage.watch(this.#definition.storagePrefix, after, (event) => this.#onEvent(event));
      return true;
    } catch (error) {
      if (!isSetpointError(error, "ERR_COMPACTED")) throw error;
      const message = `too old resource version: ${resourceVersion} (${storage.compactedRevision + 1})`;
      this.#queue.push({ type: "ERROR", object: failure(410, "Expired", message) });
      return false;
    }
  }

  #pushState(): void {
    const { storage } = this.#context;
    const { revision, objects } = storage.list(this.#definition.storagePrefix, { pathPrefix: this.#pathPrefix });
    this.#inOrder(objects, () => this.#pushObjects(revision, objects));
  }

  #pushObjects(revision: number, objects: readonly UnstructuredObject[]): void {
    const frames: WatchFrame[] = [];
    for (const stored of objects) {
      const object = this.#view.show(stored);
      if (this.#selection.matches(object)) frames.push(frameOf("ADDED", this.#form.show(object)));
    }
    const { allowBookmarks } = this.#options;
    if (allowBookmarks) frames.push(this.#bookmark(revision, this.#initialEventsEnd()));
    this.#queue.pushAll(frames);
  }

  /**
   * Pushes at once, or, when a webhook has to convert the objects, after it has and in the order of the
   * calls.
   */
  #inOrder(stored: readonly UnstructuredObject[], push: () => void): void {
    if (!this.#view.needsWebhook) return push();
    this.#last = this.#pushAfter(this.#last, this.#view.ready(stored), push);
  }

  async #pushAfter(last: Promise<void>, ready: Promise<void>, push: () => void): Promise<void> {
    try {
      await Promise.all([last, ready]);
      if (!this.#queue.isEnded) push();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What cannot be converted cannot be watched: the client gets an error and relists. */
  #fail(error: unknown): void {
    if (this.#queue.isEnded) return;
    this.#queue.push({ type: "ERROR", object: initializing(this.#definition, error).status });
    this.#queue.end();
  }

  #initialEventsEnd(): Readonly<Record<string, string>> {
    return {
      "k8s.io/initial-events-end": "true",
      "kubernetes.io/initial-events-list-blueprint": this.#form.listBlueprint,
    };
  }

  #onEvent(event: StorageEvent): void {
    if (!event.path.startsWith(this.#pathPrefix)) return;
    if (!this.#view.needsWebhook) return this.#pushEvent(event);
    const { object, previous } = event;
    this.#inOrder(previous === undefined ? [object] : [object, previous], () => this.#pushEvent(event));
  }

  /** An event that cannot be encoded ends only this watch: its client gets the error and relists. */
  #pushEvent(event: StorageEvent): void {
    try {
      const frame = this.#frame(event);
      if (frame !== undefined) this.#queue.push(frame, event.bytes);
    } catch (error) {
      this.#context.host.log.error("Watch failed", { resource: this.#definition.resource, error });
      const message = `Internal error occurred: the event of revision ${event.revision} could not be shown`;
      this.#queue.push({ type: "ERROR", object: failure(500, "InternalError", message) });
      this.#queue.end();
    }
  }

  #frame(event: StorageEvent): WatchFrame | undefined {
    const object = this.#view.show(event.object);
    const isMatch = this.#selection.matches(object);
    if (this.#selection.isAll) {
      const type = event.kind === "delete" ? "DELETED" : event.previous === undefined ? "ADDED" : "MODIFIED";
      return frameOf(type, this.#form.show(object));
    }
    if (event.kind === "delete") return isMatch ? frameOf("DELETED", this.#form.show(object)) : undefined;
    const previous = event.previous === undefined ? undefined : this.#view.show(event.previous);
    const wasMatch = previous !== undefined && this.#selection.matches(previous);
    if (isMatch) return frameOf(wasMatch ? "MODIFIED" : "ADDED", this.#form.show(object));
    return wasMatch ? frameOf("DELETED", this.#form.show(previousAt(event, previous))) : undefined;
  }

  #bookmark(revision: number, annotations?: Readonly<Record<string, string>>): WatchFrame {
    const metadata = { resourceVersion: String(revision), ...(annotations === undefined ? {} : { annotations }) };
    const object = { kind: this.#definition.kind, apiVersion: apiVersionOf(this.#definition), metadata };
    return { type: "BOOKMARK", object: this.#form.show(object) };
  }

  #startTimers(): void {
    const { timeoutSeconds = 0, allowBookmarks } = this.#options;
    const { random } = this.#context.host;
    const durationMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : watchDurationMsMin * (1 + random.next());
    this.#after(durationMs, () => this.#queue.end());
    if (!allowBookmarks) return;
    if (durationMs > bookmarkBeforeEndMs) this.#after(durationMs - bookmarkBeforeEndMs, () => this.#pushBookmark());
    this.#bookmarkPeriodically();
  }

  #bookmarkPeriodically(): void {
    this.#after(bookmarkPeriodMs, () => {
      this.#pushBookmark();
      this.#bookmarkPeriodically();
    });
  }

  #pushBookmark(): void {
    const { revision } = this.#context.storage;
    this.#inOrder([], () => this.#queue.push(this.#bookmark(revision)));
  }

  #after(delayMs: number, callback: () => void): void {
    const timer = this.#context.host.clock.setTimer(
      () => {
        this.#timers.delete(timer);
        if (!this.#queue.isEnded) callback();
      },
      delayMs,
      { unref: true },
    );
    this.#timers.add(timer);
  }

  #close(): void {
    this.#storageWatch?.cancel();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#served.signal.removeEventListener("abort", this.#onAbort);
    this.#open.delete(this.#definition.group, this.#definition.resource, this.#queue);
  }
}
