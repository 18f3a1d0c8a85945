/** Runs one controller: changes of the caches become keys, keys become runs. */
import { SetpointError, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { Informer } from "../cache/informer.ts";
import { storeKey } from "../cache/store.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { errStopped } from "../errors.ts";
import { DaemonRunner } from "../handlers/daemons.ts";
import { Protections } from "../protection/protections.ts";
import type { Priority } from "../queue/priority.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { SourceRunner, type SourceState } from "../sources/source-runner.ts";
import { isPaused, pausedMessage } from "../controller/always-wakes.ts";
import { ControllerCache } from "../controller/controller-cache.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import { createControllerMetrics } from "./controller-metrics.ts";
import { Departures } from "./departures.ts";
import { DueKeys } from "./due-keys.ts";
import { EchoWatch } from "./echo-watch.ts";
import { KeyOrder, parseKey } from "./key-order.ts";
import { KeyRuns } from "./key-runs.ts";
import { KeyWaker } from "./key-waker.ts";
import { OwnWrites } from "../writes/own-writes.ts";
import { PausedKeys } from "./paused-keys.ts";
import { ReconcileMemory } from "../writes/write-memory.ts";
import { RunEnds } from "./run-ends.ts";
import type { ChangeKind, RunSupervisor, RunVerdict } from "./run-supervisor.ts";
import { Workers } from "./workers.ts";

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
  readonly #protections: Protections;
  readonly #daemons: DaemonRunner | undefined;
  readonly #sources: readonly SourceRunner[];
  readonly #order: KeyOrder;
  readonly #echoes: EchoWatch;
  readonly #dueKeys: DueKeys;
  readonly #runs: KeyRuns;
  readonly #workers: Workers;
  /** Aborts with the runs, or when there will be no more. */
  readonly #closing = new AbortController();
  #activeSinceMs: number | undefined;

  constructor(options: ControllerRunnerOptions) {
    const { definition, host, factory, namespaces, events, client, cluster, supervisor } = options;
    const { name, kind, concurrency, sources = [] } = definition;
    this.#options = options;
    this.definition = definition;
    const cache = new ControllerCache(definition, factory, namespaces);
    this.cache = cache;
    const log = host.log.with({ controller: name });
    this.#log = log;
    const metrics = createControllerMetrics(host.metrics, name, concurrency);
    const find = (key: string): Stored<KubeObject> | undefined => this.#find(key);
    this.#order = new KeyOrder({ definition, log, find });
    const queue = this.#createQueue();
    this.queue = queue;
    const shared = { definition, host, log, events, client, controller: name };
    const memory = new ReconcileMemory();
    const departures = new Departures({ ...shared, memory });
    const paused = new PausedKeys(shared);
    const waker = new KeyWaker({
      ...{ definition, cache, log },
      wake: (key, change, informer, object) => this.#wake(key, change, informer, object),
      // A standby remembers and says nothing: the leader does.
      gone: (key, uid) => this.#workers.isActive && departures.gone(key, uid),
      left: (object) => this.#workers.isActive && departures.left(object),
      changed: (old, next) => this.#workers.isActive && paused.changed(old, next),
    });
    const ends = new RunEnds({ definition, queue, metrics, random: host.random });
    const protections = new Protections({ ...shared, childCount: () => waker.childCount });
    this.#protections = protections;
    this.#echoes = new EchoWatch({ queue, protections, find });
    this.#daemons = this.#createDaemons();
    const wake = (key: NamespacedName, priority?: Priority): boolean => this.#wakeOwn(storeKey(key), priority);
    this.#sources = sources.map((source) => new SourceRunner(source, { ...shared, kind, cache, wake }));
    const work = (key: string, free: () => void): Promise<void> => this.#process(key, free);
    this.#workers = new Workers({ clock: host.clock, queue, concurrency, work });
    const parts = { definition, cache, queue, memory, supervisor, protections, daemons: this.#daemons, find };
    this.#dueKeys = new DueKeys({ ...parts, departures, paused });
    const ports = { definition, cluster, host, cache, memory, events };
    this.#runs = new KeyRuns({ ...parts, ports, metrics, ends, workers: this.#workers, dueKeys: this.#dueKeys });
    waker.listen();
    options.signal.addEventListener("abort", () => this.#closing.abort(options.signal.reason), { once: true });
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

  /** What holds the key back, as a sentence; undefined when nothing does. */
  heldBecause(key: string): string | undefined {
    const object = this.#find(key);
    if (object === undefined) return undefined;
    return isPaused(object) ? pausedMessage : this.#protections.messageOf(key);
  }

  /** Begins to run keys; the caches must be complete. */
  start(): void {
    this.#activeSinceMs = this.#options.host.clock.monotonic();
    this.#log.info("Started controller", { workers: this.definition.concurrency });
    for (const source of this.#sources) source.start();
    this.#workers.start();
  }

  /** Takes no more keys; resolves when the running ones, the sources and the daemons have ended. */
  async stop(): Promise<void> {
    this.#workers.stop();
    this.queue.close();
    this.#closing.abort(new SetpointError(errStopped, "the controller has stopped"));
    this.#protections.close();
    await Promise.all([
      this.#workers.allEnded(),
      ...this.#sources.map((source) => source.stop()),
      this.#daemons?.stopAll(),
    ]);
  }

  /** Whether the sources work. */
  get sources(): readonly SourceState[] {
    return this.#sources.map(({ state }) => state);
  }

  /** Runs a key for a reason that no watch shows. */
  enqueue(key: string, priority?: Priority): void {
    this.#protections.inputChanged(key);
    this.queue.add(key, priority);
  }

  /** Whether a key that a source names is this process's; another's is left to the other. */
  #wakeOwn(key: string, priority?: Priority): boolean {
    let isOwn = false;
    try {
      isOwn = this.#options.supervisor.mayRun(key);
    } catch (error) {
      this.#log.error("Cannot say whose a key is", { object: key, error });
    }
    if (isOwn) this.enqueue(key, priority);
    return isOwn;
  }

  #wake(key: string, change: ChangeKind, informer: Informer, object: Stored<KubeObject>): void {
    // What the first list shows needs no cause: it was there when the program began.
    if (!informer.isSynced) return this.queue.add(key, "low");
    this.#options.supervisor.woken(key, change, informer.kind, object);
    if (this.queue.isRunning(key)) this.#echoes.note(key, object);
    else this.#protections.inputChanged(key);
    this.queue.add(key, this.#order.priorityOf(key));
  }

  /** From a key that was taken to one that may be taken again. */
  async #process(key: string, free: () => void): Promise<void> {
    let verdict: RunVerdict | undefined;
    const writes = new OwnWrites(this.cache);
    const reconcileID = this.#options.host.random.uuid();
    const log = this.#log.with({ object: key, reconcileID });
    try {
      if (!this.#options.supervisor.mayRun(key)) this.#dueKeys.pass(key);
      else if (this.#dueKeys.isDue(key)) verdict = await this.#runs.run({ key, reconcileID, writes, log, free });
    } catch (error) {
      // Not the reconcile, whose errors are verdicts: a function beside it, such as `shardBy`.
      const delayMs = this.queue.addRateLimited(key);
      log.error("Key could not be run", { error, retryDelayMs: Math.round(delayMs) });
    } finally {
      free();
    }
    // The worker is free; the key is not.
    const { client, host, signal } = this.#options;
    const closing = this.#closing.signal;
    if (!writes.isEmpty && (await writes.settled({ client, clock: host.clock, log, signal, closing })))
      this.queue.add(key);
    this.#echoes.afterRun(key, verdict, writes);
    this.queue.done(key);
  }

  #find(key: string): Stored<KubeObject> | undefined {
    return this.cache.at(this.definition.kind, parseKey(key).namespace, key);
  }

  #createQueue(): WorkQueue {
    const { definition, host } = this.#options;
    const { name, rateLimit, fairness } = definition;
    return new WorkQueue({
      clock: host.clock,
      random: host.random,
      metrics: host.metrics,
      name,
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(fairness === undefined ? {} : { flowOf: (key) => this.#order.flowOf(key) }),
    });
  }

  #createDaemons(): DaemonRunner | undefined {
    const { definition, host, supervisor } = this.#options;
    const { name: controller, daemons } = definition;
    if (daemons === undefined) return undefined;
    return new DaemonRunner({
      ...{ daemons, host, log: this.#log, controller },
      accompany: (key) => supervisor.accompany(key),
      find: (key) => this.#find(key),
      wake: (key) => this.enqueue(key),
    });
  }
}
