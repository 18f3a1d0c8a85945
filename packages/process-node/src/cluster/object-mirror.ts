import { ApiError, isStatus, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { type Clock, type Logger, sleep } from "@setpoint/host";
import type { ClusterApi, Selector } from "./cluster-api.ts";

export interface ObjectMirrorOptions<T extends KubeObject> {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kind: KindRef<T>;
  readonly selector?: Selector;
  /** `object` is absent when the object is gone. */
  readonly onChange: (object: T | undefined, before: T | undefined) => void;
}

const retryDelayMsFirst = 200;
const retryDelayMsMax = 10_000;

/** The objects of one list as they are on the server, kept up to date by a watch until it is stopped. */
export class ObjectMirror<T extends KubeObject> implements AsyncDisposable {
  readonly #options: ObjectMirrorOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #abort = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #loop: Promise<void>;
  #retryDelayMs = retryDelayMsFirst;

  constructor(options: ObjectMirrorOptions<T>) {
    this.#options = options;
    this.#synced.promise.catch(() => {});
    this.#loop = this.#run();
  }

  /** Resolves when the first list is complete. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  values(): Iterable<T> {
    return this.#objects.values();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort(new Error("stopped"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await this.#follow(await this.#list());
      } catch (error) {
        if (signal.aborted) return;
        const { kind, log, clock } = this.#options;
        log.debug("Watch broke", { resource: kind.plural, error });
        await sleep(clock, this.#retryDelayMs, signal).catch(() => {});
        this.#retryDelayMs = Math.min(this.#retryDelayMs * 2, retryDelayMsMax);
      }
    }
  }

  /** Replaces everything; objects that are no longer listed are gone. */
  async #list(): Promise<string> {
    const { api, kind, selector = {} } = this.#options;
    const { items, resourceVersion } = await api.list(kind, selector, this.#abort.signal);
    const listed = new Set(items.map(keyOf));
    for (const [key, object] of this.#objects) if (!listed.has(key)) this.#remove(key, object);
    // Items of a list carry no kind of their own on the wire.
    const head = { apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`, kind: kind.kind };
    for (const item of items) this.#set({ ...item, ...head });
    this.#synced.resolve();
    return resourceVersion;
  }

  async #follow(from: string): Promise<void> {
    const { api, kind, selector = {} } = this.#options;
    const { signal } = this.#abort;
    let resourceVersion = from;
    while (!signal.aborted) {
      let frames = 0;
      for await (const frame of await api.watch(kind, selector, resourceVersion, signal)) {
        frames++;
        if (frame.type === "ERROR")
          throw isStatus(frame.object) ? new ApiError(frame.object) : new Error("watch error");
        const object = frame.object as T;
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        this.#retryDelayMs = retryDelayMsFirst;
        if (frame.type === "DELETED") this.#remove(keyOf(object), object);
        else if (frame.type !== "BOOKMARK") this.#set(object);
      }
      // A server that ends watches at once must not be asked in a busy loop.
      if (frames === 0) await sleep(this.#options.clock, retryDelayMsFirst, signal);
    }
  }

  #set(object: T): void {
    const before = this.#objects.get(keyOf(object));
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#objects.set(keyOf(object), object);
    this.#options.onChange(object, before);
  }

  #remove(key: string, object: T): void {
    const before = this.#objects.get(key) ?? object;
    this.#objects.delete(key);
    this.#options.onChange(undefined, before);
  }
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name ?? ""}`;
}
