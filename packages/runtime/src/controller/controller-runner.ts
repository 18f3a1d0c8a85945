/** Runs one controller: changes of the caches become keys, keys become runs. */
import { isConflict, parseApiVersion, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import { isOutcomeUnknown, type Client, type Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { Informer } from "../cache/informer.ts";
import { controllerOf, storeKey } from "../cache/store.ts";
import { isTerminalError } from "../errors.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { ControllerCache } from "./controller-cache.ts";
import type { ControllerDefinition, WatchDefinition } from "./controller-definition.ts";
import { createControllerMetrics, type ControllerMetrics, type RunEnd } from "./controller-metrics.ts";
import { createRun } from "./create-context.ts";
import { OwnWrites } from "./own-writes.ts";
import { ReconcileMemory } from "./reconcile-memory.ts";
import { reconcileObject } from "./reconcile-object.ts";
import type { Result } from "./result.ts";
import type { RunPorts } from "./run-ports.ts";
import type { ChangeKind, RunSupervisor, RunVerdict } from "./run-supervisor.ts";

export interface ControllerRunnerOptions {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly host: Host;
  readonly factory: InformerFactory;
  readonly namespaces: readonly string[] | undefined;
  readonly events: EventRecorder;
  /** Aborts running reconciles. */
  readonly signal: AbortSignal;
  /** The cluster's name when the manager has several. */
  readonly cluster?: string;
  readonly supervisor: RunSupervisor;
}

/**
 * Guarantees: one run at a time for a key, at most `concurrency` at once; a key does not run again before the cache shows what
 * it has written.
 */
export class ControllerRunner {
  readonly definition: ControllerDefinition;
  readonly cache: ControllerCache;
  readonly queue: WorkQueue;
  readonly #options: ControllerRunnerOptions;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #memory = new ReconcileMemory();
  /** UIDs by key, to forget what is remembered of an object when it is gone. */
  readonly #uids = new Map<string, string>();
  readonly #processing = new Set<Promise<void>>();
  #isActive = false;
  #activeSinceMs: number | undefined;
  #activeCount = 0;

  constructor(options: ControllerRunnerOptions) {
    const { definition, host, factory, namespaces } = options;
    this.#options = options;
    this.definition = definition;
    this.cache = new ControllerCache(definition, factory, namespaces);
    this.#log = host.log.with({ controller: definition.name });
    this.#metrics = createControllerMetrics(host.metrics, definition.name, definition.concurrency);
    this.queue = new WorkQueue({
      clock: host.clock,
      random: host.random,
      metrics: host.metrics,
      name: definition.name,
    });
    this.queue.onReady(() => this.#pump());
    this.#listen();
  }

  /** Whether no key is ready, running or waiting for its own writes. */
  get isQuiet(): boolean {
    return this.queue.depth === 0 && this.queue.runningCount === 0;
  }

  /** Since when keys run (monotonic); undefined before the start: a standby's keys wait without fault. */
  get activeSinceMs(): number | undefined {
    return this.#activeSinceMs;
  }

  /** The keys of all objects that the cache shows. */
  *keys(): Iterable<string> {
    for (const { store } of this.cache.of(this.definition.kind).informers) yield* store.keys();
  }

  /** The object of a key, as the cache shows it. */
  object(key: string): Stored<KubeObject> | undefined {
    return this.#find(key);
  }

  /** Begins to run keys; the caches must be complete. */
  start(): void {
    this.#isActive = true;
    this.#activeSinceMs = this.#options.host.clock.monotonic();
    this.#log.info("Started controller", { workers: this.definition.concurrency });
    this.#pump();
  }

  /** Takes no more keys; resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#isActive = false;
    this.queue.close();
    await Promise.all(this.#processing);
  }

  #listen(): void {
    const { kind, owns, watches } = this.definition;
    for (const informer of this.cache.of(kind).informers)
      informer.addHandler({
        onAdd: (object) => this.#wake(storeKey(object.metadata), "added", informer, object),
        onDelete: (object) => this.#wake(storeKey(object.metadata), "deleted", informer, object),
        onUpdate: (old, next) =>
          this.definition.predicate(old, next) && this.#wake(storeKey(next.metadata), "changed", informer, next),
      });
    for (const owned of owns) this.#listenTo(this.cache.of(owned).informers, (object) => this.#ownerKeys(object));
    for (const watch of watches)
      if (watch.wakes !== undefined)
        this.#listenTo(this.cache.of(watch.of).informers, (object) => this.#wokenKeys(watch, object));
  }

  #listenTo(informers: readonly Informer[], keysOf: (object: Stored<KubeObject>) => readonly string[]): void {
    for (const informer of informers) {
      const wake = (of: Stored<KubeObject>, change: ChangeKind, shown: Stored<KubeObject>): void => {
        for (const key of keysOf(of)) this.#wake(key, change, informer, shown);
      };
      informer.addHandler({
        onAdd: (object) => wake(object, "added", object),
        onDelete: (object) => wake(object, "deleted", object),
        // Also the old state wakes: an owner that is no longer named has lost something.
        onUpdate: (old, next) => (wake(old, "changed", next), wake(next, "changed", next)),
      });
    }
  }

  #wake(key: string, change: ChangeKind, informer: Informer, object: Stored<KubeObject>): void {
    // What the first list shows needs no cause: it was there when the program began.
    if (informer.isSynced) this.#options.supervisor.woken(key, change, informer.kind, object);
    this.queue.add(key);
  }

  #ownerKeys(object: KubeObject): readonly string[] {
    const owner = controllerOf(object);
    const { kind } = this.definition;
    if (owner === undefined || owner.kind !== kind.kind || parseApiVersion(owner.apiVersion).group !== kind.group)
      return [];
    return [
      storeKey(kind.namespaced ? { namespace: object.metadata.namespace, name: owner.name } : { name: owner.name }),
    ];
  }

  #wokenKeys(watch: WatchDefinition, object: Stored<KubeObject>): readonly string[] {
    try {
      return (watch.wakes?.(object, this.cache) ?? []).map(storeKey);
    } catch (error) {
      this.#log.error("Mapping of a watched object threw", {
        resource: watch.of.plural,
        object: storeKey(object.metadata),
        error,
      });
      return [];
    }
  }

  #pump(): void {
    while (this.#isActive && this.#activeCount < this.definition.concurrency) {
      const key = this.queue.take();
      if (key === undefined) return;
      const processing = this.#process(key).finally(() => this.#processing.delete(processing));
      this.#processing.add(processing);
    }
  }

  async #process(key: string): Promise<void> {
    this.#activeCount++;
    const writes = new OwnWrites(this.cache);
    const reconcileID = this.#options.host.random.uuid();
    const log = this.#log.with({ object: key, reconcileID });
    try {
      if (this.#options.supervisor.mayRun(key)) await this.#run(key, reconcileID, writes, log);
      else this.#forget(key);
    } finally {
      this.#activeCount--;
      this.#pump();
    }
    // The worker is free; the key is not.
    const { client, host, signal } = this.#options;
    if (!writes.isEmpty) await writes.settled({ client, clock: host.clock, log, signal });
    this.queue.done(key);
  }

  async #run(key: string, reconcileID: string, writes: OwnWrites, log: Logger): Promise<void> {
    const { clock } = this.#options.host;
    const object = this.#find(key);
    if (object === undefined) return this.#forget(key);
    if (this.#uids.get(key) !== object.metadata.uid) this.#forget(key);
    this.#uids.set(key, object.metadata.uid);
    const startedMs = clock.monotonic();
    this.#metrics.started(this.#activeCount);
    const supervised = this.#options.supervisor.begin(key, reconcileID);
    const { client, signal } = supervised;
    const ports = { ...this.#options, client, signal, cache: this.cache, writes, memory: this.#memory, log };
    const verdict = await this.#reconcile(key, object, ports);
    supervised.ended(verdict);
    this.#metrics.ended(verdict.end, clock.monotonic() - startedMs, this.#activeCount - 1);
  }

  async #reconcile(key: string, object: Stored<KubeObject>, ports: RunPorts): Promise<RunVerdict> {
    const run = createRun(object, ports);
    try {
      const result = await reconcileObject(this.definition, object, run);
      return { end: this.#scheduleNext(key, result), result };
    } catch (error) {
      return this.#fail(key, error, ports);
    }
  }

  #scheduleNext(key: string, result: Result | void): RunEnd {
    this.queue.forget(key);
    if (result === undefined || result.kind === "awaitChange") return "success";
    this.queue.addAfter(key, result.delayMs);
    return result.delayMs <= 0 ? "requeue" : "requeue_after";
  }

  #fail(key: string, error: unknown, { signal, log }: RunPorts): RunVerdict {
    // Nothing is wrong with the key: the program stops, or the key is somebody else's now.
    if (signal.aborted) return { end: "error", error };
    const isTerminal = isTerminalError(error);
    this.#metrics.failed(isTerminal);
    if (isTerminal) {
      this.queue.forget(key);
      log.error("Reconcile failed and waits for a change", { error });
      return { end: "error", error };
    }
    const delayMs = this.queue.addRateLimited(key);
    const fields = { error, retryDelayMs: Math.round(delayMs) };
    // Somebody else was faster, or the network lost an answer: daily life, and the next run looks again.
    if (isConflict(error) || isOutcomeUnknown(error)) log.info("Reconcile will be tried again", fields);
    else log.error("Reconcile failed", fields);
    return { end: "error", error, retryDelayMs: delayMs };
  }

  #find(key: string): Stored<KubeObject> | undefined {
    const { name, namespace } = parseKey(key);
    return this.cache.get(this.definition.kind, name, namespace);
  }

  #forget(key: string): void {
    const uid = this.#uids.get(key);
    if (uid !== undefined) this.#memory.forget(uid);
    this.#uids.delete(key);
    this.queue.forget(key);
  }
}

function parseKey(key: string): NamespacedName {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
