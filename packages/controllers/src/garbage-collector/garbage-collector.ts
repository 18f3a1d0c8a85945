import { CustomResourceDefinition } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, DiscoveredResource, KindRef, RestMapper, Stored } from "@setpoint/client";
import { type Host, sleep, type Timer } from "@setpoint/host";
import { Informer, type InformerFactory, Workers, WorkQueue } from "@setpoint/runtime";
import { collect, isHeld } from "./collect.ts";
import { OwnerGraph, ownersOf } from "./owner-graph.ts";

/** Kinds come in bursts (a chart installs ten at once): look once after the last. */
const rediscoverAfterMs = 50;
const concurrency = 8;
/**
 * How long it waits for the first lists of all kinds, as upstream's initialSyncTimeout. One kind that cannot
 * be listed (its conversion webhook is down) must not keep it from all others; before an object is deleted
 * the server is asked for its owners anyway.
 */
const firstListsMsMax = 30_000;
/** They never own anything, and there are many. */
const ignored: ReadonlySet<string> = new Set(["events", "leases"]);

/** What the garbage collector needs, and its limits. */
export interface GarbageCollectorOptions {
  /**
   * Kinds that it looks at; default all. Objects of others are never collected, and never count as owners.
   */
  readonly looksAt?: (kind: KindRef) => boolean;
  /**
   * Of controllers beside it: what one of these watches needs no second watch. They must hold all objects of
   * their kinds.
   */
  readonly informers?: InformerFactory;
}

interface Watched {
  readonly informer: Informer;
  stop(this: void): void;
  readonly running: Promise<void>;
}

/**
 * Deletes objects whose owners are gone, for all kinds that the server serves now or later.
 *
 * Guarantees: an object is deleted only after the server itself said that its owner is not there; always by
 * UID.
 */
export class GarbageCollector implements AsyncDisposable {
  readonly #client: Client;
  readonly #host: Host;
  readonly #graph = new OwnerGraph();
  readonly #queue: WorkQueue;
  readonly #watched = new Map<string, Watched>();
  readonly #stopper = new AbortController();
  readonly #workers: Workers;
  readonly #looksAt: (kind: KindRef) => boolean;
  readonly #shared: InformerFactory | undefined;
  #mapper: RestMapper | undefined;
  #rediscover: Timer | undefined;
  #discovering: Promise<void> = Promise.resolve();

  constructor(client: Client, host: Host, { looksAt = () => true, informers }: GarbageCollectorOptions = {}) {
    this.#client = client;
    this.#looksAt = looksAt;
    this.#shared = informers;
    this.#host = host;
    this.#queue = new WorkQueue({
      clock: host.clock,
      random: host.random,
      metrics: host.metrics,
      name: "garbagecollector",
    });
    this.#workers = new Workers({
      ...{ clock: host.clock, queue: this.#queue, concurrency },
      work: (uid, { release }) => this.#collect(uid).finally(release),
    });
  }

  /** Resolves when all present kinds are watched, or cannot be for some time, and it works. */
  async start(): Promise<void> {
    const { informer } = this.#watch(CustomResourceDefinition);
    await this.#untilSynced([informer]);
    // Of those that are there now the look below comes after they were seen.
    let isNews = false;
    const changed = (): void => {
      if (isNews) this.#rediscoverSoon();
    };
    informer.addHandler({ onAdd: changed, onUpdate: changed, onDelete: changed });
    isNews = true;
    await this.#discover();
    await this.#untilSynced([...this.#watched.values()].map((each) => each.informer));
    this.#workers.start();
  }

  async #untilSynced(informers: readonly Informer[]): Promise<void> {
    const waiting = new AbortController();
    const signal = AbortSignal.any([this.#stopper.signal, waiting.signal]);
    const isLate = sleep(this.#host.clock, firstListsMsMax, signal).then(
      () => true,
      () => false,
    );
    const areSynced = Promise.all(informers.map(({ synced }) => synced)).then(() => false);
    if (await Promise.race([areSynced, isLate])) {
      const kinds = informers.filter(({ isSynced }) => !isSynced).map(({ kind }) => kind.plural);
      this.#host.log.warn("Could not list some kinds; continuing without them", { kinds });
    }
    waiting.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rediscover?.cancel();
    this.#stopper.abort(new Error("the garbage collector has been stopped"));
    this.#workers.stop();
    this.#queue.close();
    for (const { stop } of this.#watched.values()) stop();
    await Promise.all([
      this.#discovering,
      this.#workers.allEnded(),
      ...[...this.#watched.values()].map(({ running }) => running),
    ]);
  }

  #rediscoverSoon(): void {
    this.#rediscover?.cancel();
    if (this.#stopper.signal.aborted) return;
    this.#rediscover = this.#host.clock.setTimer(() => {
      this.#discovering = this.#discover().catch((error: unknown) => {
        if (this.#stopper.signal.aborted) return;
        this.#host.log.warn("Could not discover new kinds; retrying", { error });
        this.#rediscoverSoon();
      });
    }, rediscoverAfterMs);
  }

  async #discover(): Promise<void> {
    this.#mapper = await this.#client.discover({ signal: this.#stopper.signal });
    const wanted = this.#mapper.resources.filter((each) => this.#looksAt(each) && isCollectable(each));
    for (const resource of wanted) this.#watch(resource);
    const keys = new Set(wanted.map(keyOfKind)).add(keyOfKind(CustomResourceDefinition));
    for (const [key, { stop }] of this.#watched) {
      if (keys.has(key)) continue;
      stop();
      this.#watched.delete(key);
    }
  }

  #watch(kind: KindRef): Watched {
    const key = keyOfKind(kind);
    const known = this.#watched.get(key);
    if (known !== undefined) return known;
    const shared = this.#shared?.find(kind);
    const informer = shared ?? new Informer(this.#client, this.#host, kind, { metadataOnly: true });
    const removeHandler = informer.addHandler({
      onAdd: (object) => this.#seen(kind, object),
      onUpdate: (_old, object) => this.#seen(kind, object),
      onDelete: (object) => this.#gone(object),
    });
    const watched =
      shared === undefined ? this.#run(informer) : { informer, stop: removeHandler, running: Promise.resolve() };
    this.#watched.set(key, watched);
    return watched;
  }

  #run(informer: Informer): Watched {
    const stopper = new AbortController();
    const stop = (): void => stopper.abort(new Error("the garbage collector looks at this kind no more"));
    return { informer, stop, running: informer.run(stopper.signal) };
  }

  #seen(kind: KindRef, object: Stored<KubeObject>): void {
    for (const owner of this.#graph.set(kind, object)) this.#queue.add(owner);
    // Owners that go or wait later tell their dependents themselves.
    if (object.metadata.deletionTimestamp !== undefined || !isHeld(object, this.#graph))
      this.#queue.add(object.metadata.uid);
    // A dependent that is going or was released may be what a waiting owner waits for.
    if (object.metadata.deletionTimestamp !== undefined)
      for (const { object: dependent } of this.#graph.dependentsOf(object.metadata.uid))
        this.#queue.add(dependent.metadata.uid);
  }

  #gone(object: Stored<KubeObject>): void {
    const dependents = this.#graph.dependentsOf(object.metadata.uid);
    this.#graph.delete(object.metadata.uid);
    for (const dependent of dependents) this.#queue.add(dependent.object.metadata.uid);
    for (const owner of ownersOf(object)) this.#queue.add(owner.uid);
  }

  async #collect(uid: string): Promise<void> {
    const node = this.#graph.get(uid);
    try {
      if (node !== undefined && this.#mapper !== undefined)
        await collect(node, {
          client: this.#client,
          log: this.#host.log,
          graph: this.#graph,
          mapper: this.#mapper,
          enqueue: (other) => this.#queue.add(other),
        });
      this.#queue.forget(uid);
    } catch (error) {
      if (!this.#stopper.signal.aborted) {
        this.#host.log.warn("Could not collect object; retrying", {
          kind: node?.kind.kind,
          name: node?.object.metadata.name,
          error,
        });
        this.#queue.addRateLimited(uid);
      }
    } finally {
      this.#queue.done(uid);
    }
  }
}

function keyOfKind(kind: KindRef): string {
  return `${kind.group}/${kind.plural}`;
}

function isCollectable({ verbs, plural, preferred }: DiscoveredResource): boolean {
  return (
    preferred && !ignored.has(plural) && verbs.includes("list") && verbs.includes("watch") && verbs.includes("delete")
  );
}
