/** Runs one controller: changes of the caches become keys, keys become runs. */
import { SetpointError, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { InformerFactory } from "../cache/informer-factory.ts";
import type { Informer } from "../cache/informer.ts";
import { storeKey } from "../cache/store.ts";
import { TimeSlices } from "../cache/time-slices.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { errStopped } from "../errors.ts";
import { DaemonRunner } from "../handlers/daemons.ts";
import { Protections } from "../protection/protections.ts";
import type { Priority } from "../queue/priority.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { SourceRunner, type SourceState } from "../sources/source-runner.ts";
import { isPaused, pausedMessage } from "./always-wakes.ts";
import { ControllerCache } from "./controller-cache.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import { createControllerMetrics, type ControllerMetrics } from "./controller-metrics.ts";
import { createRun } from "./create-context.ts";
import { KeyOrder, parseKey } from "./key-order.ts";
import { KeyWaker } from "./key-waker.ts";
import { OwnWrites } from "./own-writes.ts";
import { PausedKeys } from "./paused-keys.ts";
import { ReconcileMemory } from "./reconcile-memory.ts";
import { reconcileObject } from "./reconcile-object.ts";
import { RunDeadline } from "./run-deadline.ts";
import { RunEnds } from "./run-ends.ts";
import type { RunPorts } from "./run-ports.ts";
import type { ChangeKind, OnAnswer, RunSupervisor, RunVerdict } from "./run-supervisor.ts";
import { declaresStatusField } from "./status-field.ts";
import { Underway } from "./underway.ts";

/** A run that asks to be repeated so soon is counted by the protection against hot loops. */
const soonMsMax = 60_000;

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
  /** UIDs of objects that went away, by key, until the key runs and what is remembered of them is forgotten. */
  readonly #gone = new Map<string, string>();
  readonly #underway = new Underway();
  readonly #protections: Protections;
  readonly #daemons: DaemonRunner | undefined;
  readonly #sources: readonly SourceRunner[];
  /** What woke keys while they were running, to tell echoes of their writes from changes. */
  readonly #wokenBy = new Map<string, KubeObject[]>();
  readonly #paused: PausedKeys;
  readonly #saysConditions: boolean;
  readonly #ends: RunEnds;
  readonly #order: KeyOrder;
  /** Aborts with the runs, or when there will be no more. */
  readonly #closing = new AbortController();
  #isActive = false;
  #activeSinceMs: number | undefined;
  #activeCount = 0;
  #isPumping = false;
  readonly #slices: TimeSlices;

  constructor(options: ControllerRunnerOptions) {
    const { definition, host, factory, namespaces, events, client } = options;
    this.#options = options;
    this.definition = definition;
    this.cache = new ControllerCache(definition, factory, namespaces);
    this.#log = host.log.with({ controller: definition.name });
    this.#metrics = createControllerMetrics(host.metrics, definition.name, definition.concurrency);
    const find = (key: string): Stored<KubeObject> | undefined => this.#find(key);
    this.#order = new KeyOrder({ definition, log: this.#log, find });
    this.queue = new WorkQueue({
      clock: host.clock,
      random: host.random,
      metrics: host.metrics,
      name: definition.name,
      ...(definition.rateLimit === undefined ? {} : { rateLimit: definition.rateLimit }),
      ...(definition.fairness === undefined ? {} : { flowOf: (key) => this.#order.flowOf(key) }),
    });
    this.#slices = new TimeSlices(host.clock);
    this.queue.onReady(() => this.#pump());
    const shared = { definition, host, log: this.#log, events, client, controller: definition.name };
    const waker = new KeyWaker({
      ...{ definition, cache: this.cache, log: this.#log },
      wake: (key, change, informer, object) => this.#wake(key, change, informer, object),
      gone: (key, uid) => this.#noteGone(key, uid),
      left: (object) => this.#tellLeft(object),
      // A standby says nothing: the leader does.
      changed: (old, next) => this.#isActive && this.#paused.changed(old, next),
    });
    this.#ends = new RunEnds({ definition, queue: this.queue, metrics: this.#metrics, random: host.random });
    this.#protections = new Protections({ ...shared, childCount: () => waker.childCount });
    this.#paused = new PausedKeys(shared);
    const { daemons, sources = [], kind } = definition;
    this.#saysConditions = declaresStatusField(kind, "conditions");
    this.#daemons =
      daemons === undefined
        ? undefined
        : new DaemonRunner({
            ...{ ...shared, daemons, find, wake: (key) => this.enqueue(key) },
            accompany: (key) => options.supervisor.accompany(key),
          });
    const wake = (key: NamespacedName, priority?: Priority): boolean => this.#wakeOwn(storeKey(key), priority);
    this.#sources = sources.map((source) => new SourceRunner(source, { ...shared, kind, cache: this.cache, wake }));
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
    this.#isActive = true;
    this.#activeSinceMs = this.#options.host.clock.monotonic();
    this.#log.info("Started controller", { workers: this.definition.concurrency });
    for (const source of this.#sources) source.start();
    this.#pump();
  }

  /** Takes no more keys; resolves when the running ones, the sources and the daemons have ended. */
  async stop(): Promise<void> {
    this.#isActive = false;
    this.queue.close();
    this.#closing.abort(new SetpointError(errStopped, "the controller has stopped"));
    this.#protections.close();
    await Promise.all([
      this.#underway.allEnded(),
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
    if (this.queue.isRunning(key)) this.#noteWokenBy(key, object);
    else this.#protections.inputChanged(key);
    this.queue.add(key, this.#order.priorityOf(key));
  }

  #noteWokenBy(key: string, object: KubeObject): void {
    const known = this.#wokenBy.get(key);
    if (known === undefined) this.#wokenBy.set(key, [object]);
    else known.push(object);
  }

  #pump(): void {
    // A run that is over as soon as it began comes back here: the loop that began it goes on.
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#isActive && this.#activeCount < this.definition.concurrency) {
      if (this.#slices.isOver()) return this.#pumpLater();
      const key = this.queue.take();
      if (key === undefined) break;
      this.#underway.begin();
      void this.#process(key).finally(() => this.#underway.end());
    }
    this.#isPumping = false;
  }

  /** Runs that wait for nothing follow each other without a turn of the event loop, a hundred thousand after a start. */
  #pumpLater(): void {
    void this.#slices.pause().then(() => this.#pumpOn());
  }

  #pumpOn(): void {
    this.#isPumping = false;
    this.#pump();
  }

  async #process(key: string): Promise<void> {
    this.#activeCount++;
    let isFree = false;
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      this.#activeCount--;
      this.#pump();
    };
    let verdict: RunVerdict | undefined;
    const writes = new OwnWrites(this.cache);
    const reconcileID = this.#options.host.random.uuid();
    const log = this.#log.with({ object: key, reconcileID });
    try {
      if (!this.#options.supervisor.mayRun(key)) this.#pass(key);
      else if (this.#isDue(key)) verdict = await this.#run(key, reconcileID, writes, log, free);
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
    this.#afterRun(key, verdict, writes);
    this.queue.done(key);
  }

  /** Whether the key has an object that may be reconciled now; if not, what is to be done instead is done. */
  #isDue(key: string): boolean {
    const object = this.#find(key);
    // Also when there is a namesake already: it is a stranger.
    if (this.#gone.has(key)) this.#forget(key);
    if (object === undefined) {
      this.#options.supervisor.passed(key);
      return false;
    }
    if (isPaused(object)) {
      this.#paused.pause(key, object);
      this.queue.forget(key);
      this.#options.supervisor.passed(key);
      void this.#daemons?.stop(key);
      return false;
    }
    this.#paused.resume(key, object);
    const waitMs = this.#protections.waitMs(key, object);
    if (waitMs > 0) this.queue.addAfter(key, waitMs);
    return waitMs <= 0;
  }

  async #run(
    key: string,
    reconcileID: string,
    writes: OwnWrites,
    log: Logger,
    free: () => void,
  ): Promise<RunVerdict | undefined> {
    const { clock } = this.#options.host;
    const object = this.#find(key);
    if (object === undefined) return undefined;
    if (this.#protections.isFighting(key)) await this.#protections.beforeRun(key, object);
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    if (isDeleting && this.#daemons !== undefined) await this.#daemons.stop(key);
    // Meanwhile it may have become another's, who has been told already that nothing of it runs here.
    if (!this.#options.supervisor.mayRun(key)) {
      this.#pass(key);
      return undefined;
    }
    if (!isDeleting) this.#daemons?.ensure(key, object);
    const startedMs = clock.monotonic();
    this.#metrics.started(this.#activeCount);
    const onAnswer: OnAnswer = (request, answer) => writes.answered(request, answer);
    const supervised = this.#options.supervisor.begin(key, reconcileID, onAnswer);
    const deadline = this.#deadline(supervised.signal, log, free);
    const ports = {
      ...this.#options,
      client: supervised.client,
      signal: deadline?.signal ?? supervised.signal,
      assertMayWrite: supervised.assertMayWrite,
      ...{ cache: this.cache, writes, memory: this.#memory, log, guard: this.#protections },
    };
    const verdict = await this.#reconcile(key, object, ports);
    deadline?.end();
    supervised.ended(verdict);
    // Its worker is free from now on, unless it was given to others already.
    const activeCount = deadline?.isIgnored === true ? this.#activeCount : this.#activeCount - 1;
    this.#metrics.ended(verdict.end, clock.monotonic() - startedMs, activeCount);
    return verdict;
  }

  #deadline(signal: AbortSignal, log: Logger, free: () => void): RunDeadline | undefined {
    const { timeoutMs } = this.definition;
    if (timeoutMs === undefined) return undefined;
    const { clock } = this.#options.host;
    const onIgnored = (): void => {
      log.error("Reconcile does not end; its worker is given to others, its key is not");
      free();
    };
    return new RunDeadline({ clock, timeoutMs, signal, onTimeout: () => this.#metrics.timedOut(), onIgnored });
  }

  /** Tells the protections whether the key ran for a reason, and what comes next. */
  #afterRun(key: string, verdict: RunVerdict | undefined, writes: OwnWrites): void {
    const wokenBy = this.#wokenBy.get(key);
    if (wokenBy !== undefined) this.#wokenBy.delete(key);
    if (verdict === undefined || verdict.end === "error") return;
    const { result } = verdict;
    const isSoon = wokenBy !== undefined || (result?.kind === "requeueAfter" && result.delayMs < soonMsMax);
    // A key at rest is of no interest to them: nearly all runs end here.
    if (!isSoon && !this.#protections.knows(key)) return;
    const object = this.#find(key);
    if (object === undefined) return;
    const isEcho = wokenBy?.every((each) => writes.isEcho(each)) ?? true;
    const againMs = this.#protections.afterRun(key, object, isEcho, isSoon);
    if (againMs !== undefined) this.queue.addAfter(key, againMs);
  }

  async #reconcile(key: string, object: Stored<KubeObject>, ports: RunPorts): Promise<RunVerdict> {
    const run = createRun(object, ports);
    const notice = this.#saysConditions ? this.#protections.conditionOf(key, object) : undefined;
    if (notice !== undefined) run.context.condition(notice);
    try {
      const result = await reconcileObject(this.definition, object, run);
      return this.#ends.succeeded(key, result);
    } catch (error) {
      return this.#ends.failed(key, error, ports.signal, ports.log);
    }
  }

  #find(key: string): Stored<KubeObject> | undefined {
    const { name, namespace } = parseKey(key);
    return this.cache.get(this.definition.kind, name, namespace);
  }

  /** The key belongs to another process. */
  #pass(key: string): void {
    this.#options.supervisor.passed(key);
    const { definition } = this;
    const version = this.cache.informerOf(definition.kind, parseKey(key).namespace)?.store.versionOf(key);
    if (version !== undefined) this.#memory.forget(version.uid);
    this.#forget(key);
  }

  /** Of several that went away since the key ran, something can be remembered of the first alone. */
  #noteGone(key: string, uid: string): void {
    if (this.#isActive && !this.#gone.has(key)) this.#gone.set(key, uid);
  }

  /** Whether another controller has it now, nobody here can know: so it is told, and the finalizer stays. */
  #tellLeft(object: Stored<KubeObject>): void {
    if (!this.#isActive) return;
    const { name, finalizer } = this.definition;
    const message = `It is not among the objects that controller "${name}" selects any more, and has its finalizer "${finalizer}": nobody here cleans up when it is deleted`;
    this.#log.warn("Object has left the selection with the finalizer", {
      object: storeKey(object.metadata),
      finalizer,
    });
    this.#options.events.record(object, name, { type: "Warning", reason: "LeftSelection", message });
  }

  /** What is remembered of the key, and of its object if that is gone. */
  #forget(key: string): void {
    const uid = this.#gone.get(key);
    if (uid !== undefined) this.#memory.forget(uid);
    this.#gone.delete(key);
    this.queue.forget(key);
    this.#protections.forget(key);
    this.#paused.forget(key);
    void this.#daemons?.stop(key);
  }
}
