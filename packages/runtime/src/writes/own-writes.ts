/**
 * What one run of a key has written. Its own reads see it at once, and the next run of the key waits for it.
 */
import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import { sleep, type Clock, type Logger } from "@setpoint/host";
import type { Informer } from "../cache/informer.ts";
import { compareResourceVersions } from "../cache/resource-version.ts";
import { storeKey } from "../cache/store.ts";
import type { ControllerCache } from "../controller/controller-cache.ts";

/** A cache that has not shown a write for so long relists. */
const barrierMsMax = 10_000;
/** How often to ask the server about a write without an answer. */
const askAgainMs = 1_000;

interface Key {
  readonly kind: KindRef;
  readonly name: string;
  readonly namespace?: string | undefined;
}

type Outcome =
  | { readonly state: "written"; readonly object: Stored<KubeObject> }
  | { readonly state: "deleted"; readonly uid: string | undefined }
  /** No answer: the server must be asked. */
  | { readonly state: "unknown" };

type KnownWrite = Key & Exclude<Outcome, { state: "unknown" }>;

type OwnWrite = Key & Outcome;

interface Noted {
  readonly write: OwnWrite;
  /** The history of the cluster in which it was written. */
  readonly history: number | undefined;
}

/** A write as it was sent. */
export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
}

/** What the answer to a deletion identifies. */
interface StatusDetails {
  readonly details?: { readonly uid?: string };
}

/** The surroundings of a barrier. */
export interface BarrierPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Aborts when the key will not run here again, so that the barrier may end. Default: `signal`. */
  readonly closing?: AbortSignal;
}

export class OwnWrites {
  readonly #cache: ControllerCache;
  /** By the kind as it was declared, and by the object's key in the caches. */
  readonly #writes = new Map<KindRef, Map<string, Noted>>();
  /** Revisions that were written and UIDs that were deleted: they identify the echo of own writes. */
  readonly #marks = new Set<string>();
  #isUnfinished = false;

  constructor(cache: ControllerCache) {
    this.#cache = cache;
  }

  written(kind: KindRef, object: Stored<KubeObject>): void {
    this.#marks.add(object.metadata.resourceVersion);
    this.learned(kind, object);
  }

  /**
   * The server returned this object, whichever client wrote it. Later reads wait for it as for an own write,
   * but its event is no echo.
   */
  learned(kind: KindRef, object: Stored<KubeObject>): void {
    const { name, namespace } = object.metadata;
    this.#note({ kind, name, namespace, state: "written", object });
  }

  /** The run leaves work to the next one, which must run, and must see what this one has read. */
  leave(kind: KindRef, object: Stored<KubeObject>): void {
    this.#isUnfinished = true;
    this.learned(kind, object);
  }

  deleted(kind: KindRef, object: KubeObject): void {
    const { name, namespace, uid } = object.metadata;
    if (uid !== undefined) this.#marks.add(uid);
    if (name !== undefined) this.#note({ kind, name, namespace, state: "deleted", uid });
  }

  unknown(kind: KindRef, object: KubeObject): void {
    const { name, namespace } = object.metadata;
    if (name !== undefined) this.#note({ kind, name, namespace, state: "unknown" });
  }

  /**
   * The server's answer to any write of the run, also through `context.client`. The barrier waits for objects
   * that a cache holds. For the others it only remembers that the write was ours.
   */
  answered({ method, path }: AnsweredRequest, answer: unknown): void {
    const { apiVersion, kind, metadata, details } = (answer ?? {}) as Partial<KubeObject> & StatusDetails;
    if (kind === "Status" && details?.uid !== undefined) this.#gone(path, details.uid);
    if (apiVersion === undefined || kind === undefined) return;
    if (metadata?.resourceVersion === undefined || metadata.name === undefined) return;
    this.#marks.add(metadata.resourceVersion);
    // An answer of the API with a name and a revision is an object.
    const object = answer as Stored<KubeObject>;
    if (method === "DELETE" && metadata.deletionTimestamp === undefined) this.#gone(path, object.metadata.uid);
    else {
      const declared = this.#cache.findOf(object);
      if (declared !== undefined && this.#isCached(declared.kind, object.metadata)) this.written(declared.kind, object);
    }
  }

  /** Of an answer to a deletion only the UID is sure to be there; the path says what it was. */
  #gone(path: string, uid: string): void {
    this.#marks.add(uid);
    const key = this.#cache.keyOfPath(path);
    if (key !== undefined && this.#isCached(key.kind, key)) this.#note({ ...key, state: "deleted", uid });
  }

  /** Whether some cache will show it; one with a selector may leave it out. */
  #isCached(kind: KindRef, key: { readonly name: string; readonly namespace?: string }): boolean {
    const informer = this.#cache.informerOf(kind, key.namespace);
    return informer !== undefined && (!informer.isSelective || informer.store.has(storeKey(key)));
  }

  /** Whether the cache shows in this object nothing but a write of this run. */
  isEcho({ metadata: { resourceVersion, uid } }: KubeObject): boolean {
    return (
      (resourceVersion !== undefined && this.#marks.has(resourceVersion)) || (uid !== undefined && this.#marks.has(uid))
    );
  }

  /** The object of a key as the cache has it, or as this run has written it if that is newer. */
  overlay(kind: KindRef, key: string, cached: Stored<KubeObject> | undefined): Stored<KubeObject> | undefined {
    const noted = this.#of(kind)?.get(key);
    return noted === undefined ? cached : newest(noted.write, cached);
  }

  /**
   * A list from the cache with this run's writes in it; `belongs` says which of them are part of the list.
   */
  overlayList(
    kind: KindRef,
    cached: readonly Stored<KubeObject>[],
    belongs: (object: Stored<KubeObject>) => boolean,
  ): readonly Stored<KubeObject>[] {
    const writes = this.#of(kind);
    if (writes === undefined) return cached;
    const byKey = new Map(cached.map((object) => [storeKey(object.metadata), object]));
    for (const [key, { write }] of writes) {
      const object = newest(write, byKey.get(key));
      if (object !== undefined && belongs(object)) byKey.set(key, object);
      else byKey.delete(key);
    }
    return [...byKey.values()];
  }

  /**
   * Resolves when the cache shows all writes. True when the key must run again: work was left, or the cache
   * shows that a written object is gone. A watch that broke meanwhile may never have shown that object, and
   * then no other event reports its deletion.
   */
  async settled(ports: BarrierPorts): Promise<boolean> {
    const settling: Promise<boolean>[] = [];
    for (const writes of this.#writes.values())
      for (const [key, noted] of writes) settling.push(this.#settle(key, noted, ports));
    const isGone = await Promise.all(settling);
    return this.#isUnfinished || isGone.includes(true);
  }

  get isEmpty(): boolean {
    return this.#writes.size === 0;
  }

  #of(kind: KindRef): ReadonlyMap<string, Noted> | undefined {
    return this.isEmpty ? undefined : this.#writes.get(this.#cache.of(kind).kind);
  }

  #note(write: OwnWrite): void {
    const { kind } = this.#cache.of(write.kind);
    const { history } = this.#cache.informerOf(kind, write.namespace) ?? {};
    let writes = this.#writes.get(kind);
    if (writes === undefined) this.#writes.set(kind, (writes = new Map()));
    writes.set(storeKey(write), { write, history });
  }

  /** Whether the written object has been deleted since. */
  async #settle(key: string, { write, history }: Noted, ports: BarrierPorts): Promise<boolean> {
    let known: KnownWrite = write.state === "unknown" ? await ask(write, ports) : write;
    const informer = this.#cache.informerOf(write.kind, write.namespace);
    const { closing = ports.signal } = ports;
    if (informer === undefined || closing.aborted) return false;
    // A write from before a restore of the cluster never shows.
    const isLost = (): boolean => informer.history !== history;
    const isShown = (): boolean => shows(informer, key, known) || isLost();
    while (!isShown() && !closing.aborted) {
      const isInTime = await progressUntil(informer, isShown, ports.clock, closing);
      if (isInTime || closing.aborted) break;
      ports.log.warn("Cache does not show an own write; relisting", {
        resource: write.kind.plural,
        object: key,
        waitedMs: barrierMsMax,
      });
      // The object was missing when the server was asked; it may have been written or recreated since.
      if (known.state === "deleted" && known.uid === undefined) known = await ask(write, ports);
      informer.refresh();
    }
    return known.state === "written" && !informer.isSelective && !closing.aborted && isMissing(informer, key, known);
  }
}

function isMissing(informer: Informer, key: string, write: Extract<KnownWrite, { state: "written" }>): boolean {
  return informer.store.versionOf(key)?.uid !== write.object.metadata.uid;
}

function newest(write: OwnWrite, cached: Stored<KubeObject> | undefined): Stored<KubeObject> | undefined {
  if (write.state === "unknown") return cached;
  if (write.state === "deleted") return cached?.metadata.uid === write.uid ? undefined : cached;
  if (cached === undefined) return write.object;
  return compareResourceVersions(cached.metadata.resourceVersion, write.object.metadata.resourceVersion) >= 0
    ? cached
    : write.object;
}

/** Asked after each change of the cache for each write that is waited for, so nothing is decoded for it. */
function shows(informer: Informer, key: string, write: KnownWrite): boolean {
  if (write.state === "written" && informer.hasSeen(write.object.metadata.resourceVersion)) return true;
  const cached = informer.store.versionOf(key);
  if (write.state === "deleted") return cached === undefined || (write.uid !== undefined && cached.uid !== write.uid);
  return (
    cached !== undefined && compareResourceVersions(cached.resourceVersion, write.object.metadata.resourceVersion) >= 0
  );
}

/**
 * The outcome of a write without an answer. The server's state is at least as new as the write, if it
 * happened.
 */
async function ask(write: Key, { client, clock, log, signal }: BarrierPorts): Promise<KnownWrite> {
  const { kind, name, namespace } = write;
  const key = namespace === undefined ? { name } : { name, namespace };
  for (;;) {
    try {
      const object = await client.get<KubeObject>(kind, key, { signal });
      return { kind, name, namespace, state: "written", object };
    } catch (error) {
      if (isNotFound(error) || signal.aborted) return { kind, name, namespace, state: "deleted", uid: undefined };
      log.warn("Cannot read the result of a write", { resource: kind.plural, object: storeKey(key), error });
      await sleep(clock, askAgainMs, signal).catch(() => {});
    }
  }
}

/** Whether the condition came true in time; asked again after each change of the cache. */
function progressUntil(
  informer: Informer,
  condition: () => boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const end = (value: boolean) => (): void => {
    stopListening();
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
    resolve(value);
  };
  const onAbort = end(false);
  const stopListening = informer.onProgress(() => condition() && end(true)());
  const timer = clock.setTimer(end(false), barrierMsMax);
  signal.addEventListener("abort", onAbort, { once: true });
  return promise;
}
