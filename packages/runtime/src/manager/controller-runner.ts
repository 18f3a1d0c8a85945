/** Runs one controller in one cluster: events of the caches become keys, and workers reconcile the keys. */
import { SetpointError, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { Informer } from "../cache/informer.ts";
import { storeKey } from "../cache/store.ts";
import type { PlannedStep } from "../controller/step-memory.ts";
import { isPaused, pausedMessage } from "../controller/always-wakes.ts";
import { ControllerCache } from "../controller/controller-cache.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import { errStopped } from "../errors.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { DaemonRunner } from "../handlers/daemons.ts";
import { Protections, type ProtectionReason } from "../protection/protections.ts";
import type { Priority } from "../queue/priority.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { createControllerInfo } from "../run/controller-info.ts";
import { createControllerMetrics } from "../run/controller-metrics.ts";
import { EventHandlers } from "../run/event-handlers.ts";
import { PriorityAndFairness, parseKey } from "../run/priority-and-fairness.ts";
import { KeyStates } from "../run/key-state.ts";
import { reportLeftSelection } from "../run/left-selection.ts";
import { reconcileKey } from "../run/reconcile-key.ts";
import type { Reconciler } from "../run/reconciler.ts";
import type { Cause, ChangeKind } from "../run/run-record.ts";
import type { RunSupervisor } from "../run/run-supervisor.ts";
import { Workers } from "../run/workers.ts";
import { SourceRunner, type SourceState } from "../sources/source-runner.ts";
import { publishObjectGauges } from "./object-gauges.ts";
import type { ManagerOptions } from "./manager-options.ts";

/** Keys of a standby whose causes are kept until they run. */
const standbyKeysMax = 10_000;

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
  readonly dryRun: ManagerOptions["dryRun"];
  readonly supervisor: RunSupervisor;
}

/**
 * Guarantees: one run at a time for a key, at most `concurrency` at once; a key does not run again before the
 * cache shows what it has written.
 */
export class ControllerRunner {
  readonly definition: ControllerDefinition;
  readonly cache: ControllerCache;
  readonly queue: WorkQueue;
  readonly #reconciler: Reconciler;
  readonly #states = new KeyStates();
  readonly #priorityAndFairness: PriorityAndFairness;
  readonly #daemons: DaemonRunner | undefined;
  readonly #sources: readonly SourceRunner[];
  readonly #workers: Workers;
  readonly #stopCounting: () => void;
  readonly #stopGauges: () => void;
  /** Aborts with the runs, or when there will be no more. */
  readonly #closing = new AbortController();
  #activeSinceMs: number | undefined;

  constructor(options: ControllerRunnerOptions) {
    const { definition, host, factory, namespaces, events, client, cluster, supervisor, signal, dryRun } = options;
    const { name, kind, concurrency, sources = [] } = definition;
    const log = host.log.with({ controller: name });
    const find = (key: string): Stored<KubeObject> | undefined => this.object(key);
    this.definition = definition;
    this.cache = new ControllerCache(definition, factory, namespaces);
    this.#priorityAndFairness = new PriorityAndFairness({ definition, log, find });
    this.queue = createQueue(definition, host, this.#priorityAndFairness);
    const handlers = new EventHandlers({
      ...{ definition, cache: this.cache, log },
      enqueue: (key, change, informer, object) => this.#enqueueChange(key, change, informer, object),
      // A standby says nothing: the leader does.
      leftSelection: (object) => this.#workers.isActive && reportLeftSelection(object, definition, { log, events }),
      changed: (old, next) => this.#noteNewPause(old, next),
    });
    const protections = new Protections({
      ...{ definition, host, log, events, client },
      keys: () => this.#states.values(),
      childCount: () => handlers.childCount,
    });
    this.#daemons = createDaemons(options, log, find, (key) => this.enqueue(key));
    const { fieldManager } = definition;
    const info = createControllerInfo({ fieldManager, cluster, outdated: () => this.cache.outdated(), dryRun });
    this.#reconciler = {
      ...{ definition, info, client, host, log, events, supervisor, protections, signal, find },
      ...{ cache: this.cache, queue: this.queue, states: this.#states, daemons: this.#daemons },
      metrics: createControllerMetrics(host.metrics, name, concurrency),
      closing: this.#closing.signal,
    };
    this.#workers = new Workers({
      ...{ clock: host.clock, queue: this.queue, concurrency },
      work: (key, worker) => reconcileKey(key, worker, this.#reconciler),
    });
    const wake = (key: NamespacedName, priority?: Priority): boolean => this.#enqueueOwn(storeKey(key), priority);
    const shared = { host, log, controller: name, kind, cache: this.cache, wake };
    this.#sources = sources.map((source) => new SourceRunner(source, shared));
    this.#stopCounting = host.metrics.onExpose(() => this.#count());
    this.#stopGauges = this.#publishGauges();
    handlers.register();
    signal.addEventListener("abort", () => this.#closing.abort(signal.reason), { once: true });
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
    return this.cache.at(this.definition.kind, parseKey(key).namespace, key);
  }

  /** What woke the key since its last run. */
  causesOf(key: string): readonly Cause[] {
    return this.#states.get(key)?.causes.peek() ?? [];
  }

  /** The step that the plan of the key is at; undefined at rest, and without a plan. */
  plannedFor(key: string): PlannedStep | undefined {
    return this.#states.get(key)?.step;
  }

  /** The keys that a protection holds back now. */
  *slowedKeys(): Iterable<{ readonly key: string; readonly reason: ProtectionReason }> {
    for (const state of this.#states.values()) {
      const reason = this.#reconciler.protections.holderOf(state);
      if (reason !== undefined) yield { key: state.key, reason };
    }
  }

  /** What holds the key back, as a sentence; undefined when nothing does. */
  heldBecause(key: string): string | undefined {
    const object = this.object(key);
    if (object === undefined) return undefined;
    if (isPaused(object)) return pausedMessage;
    const state = this.#states.get(key);
    return state === undefined ? undefined : this.#reconciler.protections.messageOf(state);
  }

  /** Begins to run keys; the caches must be complete. */
  start(): void {
    const { host, log } = this.#reconciler;
    this.#activeSinceMs = host.clock.monotonic();
    log.info("Started controller", { workers: this.definition.concurrency });
    for (const source of this.#sources) source.start();
    this.#workers.start();
  }

  /** Takes no more keys; resolves when the running ones, the sources and the daemons have ended. */
  async stop(): Promise<void> {
    this.#workers.stop();
    this.queue.close();
    this.#closing.abort(new SetpointError(errStopped, "the controller has stopped"));
    this.#reconciler.protections.close();
    this.#stopGauges();
    await Promise.all([
      this.#workers.allEnded(),
      ...this.#sources.map((source) => source.stop()),
      this.#daemons?.stopAll(),
    ]);
    this.#count();
    this.#stopCounting();
  }

  /** Whether the sources work. */
  get sources(): readonly SourceState[] {
    return this.#sources.map(({ state }) => state);
  }

  /** Runs a key for a reason that no watch shows. */
  enqueue(key: string, priority?: Priority): void {
    this.#inputChanged(key);
    this.queue.add(key, priority);
  }

  /** Whether a key that a source names is this process's; another's is left to the other. */
  #enqueueOwn(key: string, priority?: Priority): boolean {
    const { supervisor, log } = this.#reconciler;
    let isOwn = false;
    try {
      isOwn = supervisor.mayRun(key);
    } catch (error) {
      log.error("Cannot find the shard of a key", { object: key, error });
    }
    if (isOwn) this.enqueue(key, priority);
    return isOwn;
  }

  #enqueueChange(key: string, change: ChangeKind, informer: Informer, object: Stored<KubeObject>): void {
    // What the first list shows needs no cause: it was there when the program began.
    if (!informer.isSynced) return this.queue.add(key, "low");
    const mayAdd = this.#workers.isActive || this.#states.size < standbyKeysMax;
    const state = mayAdd ? this.#states.of(key) : this.#states.get(key);
    state?.causes.add(change, informer.kind, object, this.#reconciler.host.clock.now());
    if (this.queue.isRunning(key)) state?.wokenBy.push(object);
    else this.#inputChanged(key);
    this.queue.add(key, this.#priorityAndFairness.priorityOf(key));
  }

  /** Something that this controller has not done itself has changed, so its next run is not for nothing. */
  #inputChanged(key: string): void {
    const state = this.#states.get(key);
    if (state !== undefined) state.loop = undefined;
  }

  #noteNewPause(old: Stored<KubeObject>, next: Stored<KubeObject>): void {
    if (this.#workers.isActive && isPaused(next) && !isPaused(old))
      this.#states.of(storeKey(next.metadata)).isPauseNew = true;
  }

  /** A standby publishes nothing: the leader does. */
  #publishGauges(): () => void {
    const { name, objectMetrics, kind } = this.definition;
    if (objectMetrics === undefined) return () => {};
    const { host } = this.#reconciler;
    const informers = (): readonly Informer[] => (this.#workers.isActive ? this.cache.of(kind).informers : []);
    return publishObjectGauges({
      ...{ host, controller: name, kind: kind.kind, metrics: objectMetrics },
      objects: () => informers().flatMap(({ store }) => [...store.values()]),
    });
  }

  /** Writes the metrics that a scrape reads. */
  #count(): void {
    this.#reconciler.metrics.workersInUse(this.#workers.activeCount);
    const count = [...this.#states.values()].filter((state) => state.isPaused).length;
    this.#reconciler.host.metrics
      .gauge("setpoint_paused_objects", "Objects that are not reconciled because a person paused them.")
      .set(count, { controller: this.definition.name });
  }
}

function createQueue(
  { name, rateLimit, fairness }: ControllerDefinition,
  host: Host,
  priorityAndFairness: PriorityAndFairness,
): WorkQueue {
  return new WorkQueue({
    clock: host.clock,
    random: host.random,
    metrics: host.metrics,
    name,
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(fairness === undefined ? {} : { flowOf: (key) => priorityAndFairness.flowOf(key) }),
  });
}

function createDaemons(
  { definition: { name, daemons }, host, supervisor }: ControllerRunnerOptions,
  log: Logger,
  find: Reconciler["find"],
  wake: (key: string) => void,
): DaemonRunner | undefined {
  if (daemons === undefined) return undefined;
  const accompany: RunSupervisor["accompany"] = (key) => supervisor.accompany(key);
  return new DaemonRunner({ daemons, host, log, controller: name, accompany, find, wake });
}
