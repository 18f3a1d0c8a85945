/** Everything that a manager has of one cluster: its client, caches, events and running controllers. */
import type { NamespacedName, Transport } from "@setpoint/apimachinery";
import { createClient, type Client } from "@setpoint/client";
import { metricsWith, sleep, type Host } from "@setpoint/host";
import type { CacheOptions } from "../cache/cache-options.ts";
import { InformerFactory } from "../cache/informer-factory.ts";
import { storeKey } from "../cache/store.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import { ControllerRunner } from "./controller-runner.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { fencedTransport } from "../coordination/fenced-transport.ts";
import { ControllerSupervisor } from "./controller-supervisor.ts";
import type { KeyOwnership } from "../coordination/key-ownership.ts";
import { lazyClient } from "./lazy-client.ts";
import type { BusyKey, ManagerOptions, SlowedKey } from "./manager-options.ts";

export interface ClusterCellOptions {
  /** Undefined: the cluster that the manager itself lives in. */
  readonly name: string | undefined;
  readonly transport: Transport;
  readonly host: Host;
  readonly controllers: readonly ControllerDefinition[];
  readonly namespaces: readonly string[] | undefined;
  readonly caches: CacheOptions | undefined;
  readonly dryRun: ManagerOptions["dryRun"];
  /** Names the process in events. */
  readonly identity: string;
  /** Aborts running reconciles. */
  readonly signal: AbortSignal;
  readonly ownership: KeyOwnership;
  assertMayWrite(this: void): void;
}

/** One controller in one cluster, and what is known of its runs. */
export interface SupervisedRunner {
  readonly runner: ControllerRunner;
  readonly supervisor: ControllerSupervisor;
}

/**
 * Keys that are looked at in one go when keys have changed hands; a pause between keeps the event loop free.
 */
const keysPerTurn = 2_000;
/** How long a stop waits for the watches to close. */
const closeMsMax = 5_000;

export class ClusterCell {
  readonly name: string | undefined;
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly controllers: readonly SupervisedRunner[];
  readonly #host: Host;
  readonly #events: EventRecorder;
  #isActive = false;
  #isClosed = false;

  constructor(options: ClusterCellOptions) {
    const { name, controllers, namespaces, identity, signal, ownership, assertMayWrite, dryRun } = options;
    this.name = name;
    const host = hostOf(options);
    this.#host = host;
    const clientOptions = { clock: host.clock, random: host.random, metrics: host.metrics };
    const transport = fencedTransport(options.transport, assertMayWrite);
    this.client = createClient(transport, clientOptions);
    this.informers = new InformerFactory(this.client, host, options.caches);
    this.#events = new EventRecorder(this.client, host, identity);
    const open = (way: Transport): Client => lazyClient(way, (inner) => createClient(inner, clientOptions));
    this.controllers = controllers.map((definition) => {
      const controller = definition.name;
      const ports = { controller, host, transport, ownership, assertMayWrite, createClient: open };
      const supervisor = new ControllerSupervisor(ports);
      const runner = new ControllerRunner({
        ...{ definition, client: this.client, host, factory: this.informers, namespaces, events: this.#events },
        ...{ signal, supervisor, dryRun, ...(name === undefined ? {} : { cluster: name }) },
      });
      return { runner, supervisor };
    });
  }

  /** Whether all its caches are complete. */
  get isSynced(): boolean {
    return this.informers.informers.every((informer) => informer.isSynced);
  }

  /** Whether keys run, and none is ready or running. */
  get isQuiet(): boolean {
    return this.#isActive && this.controllers.every(({ runner }) => runner.isQuiet);
  }

  /** The keys that are ready or running. */
  get busyKeys(): readonly BusyKey[] {
    return this.controllers.flatMap(({ runner: { definition, queue } }) =>
      queue.busyKeys.map((key) => ({ controller: definition.name, key })),
    );
  }

  /** The keys that a protection holds back. */
  get slowedKeys(): readonly SlowedKey[] {
    return this.controllers.flatMap(({ runner, supervisor: { history } }) =>
      [...runner.slowedKeys()].map(({ key, reason }) => {
        const { reason: lastResult } = history.latest(key) ?? {};
        const controller = runner.definition.name;
        return { controller, key, reason, ...(lastResult === undefined ? {} : { lastResult }) };
      }),
    );
  }

  /** Resolves when all its caches are complete. */
  synced(): Promise<void> {
    return this.informers.synced();
  }

  /** Begins to fill the caches. */
  start(): void {
    this.informers.start();
  }

  /** Begins to run keys; the caches must be complete. */
  activate(): void {
    if (this.#isActive || this.#isClosed) return;
    this.#isActive = true;
    for (const { runner } of this.controllers) runner.start();
  }

  enqueue(controller: string, key: NamespacedName): void {
    for (const { runner } of this.controllers) if (runner.definition.name === controller) runner.enqueue(storeKey(key));
  }

  /** Looks again at keys that have changed hands: those gained run, those lost are forgotten. */
  async enqueueChanged(isChanged: (key: string) => boolean): Promise<void> {
    let count = 0;
    for (const { runner, supervisor } of this.controllers) {
      for (const key of runner.keys()) {
        try {
          // A gained key is only reconciled; a lost key must be released at once.
          if (isChanged(key)) runner.queue.add(key, supervisor.mayRun(key) ? "low" : "high");
        } catch {
          // `shardBy` throws for this key; its run says so.
          runner.queue.add(key, "low");
        }
        if (++count % keysPerTurn === 0) await sleep(this.#host.clock, 0);
      }
    }
  }

  /**
   * No new runs; resolves when the running ones have ended and their events are written, or after the limit.
   * False: some run has not ended.
   */
  async drain(limitMs: number): Promise<boolean> {
    this.#isActive = false;
    let haveRunsEnded = false;
    const ended = Promise.all(this.controllers.map(({ runner }) => runner.stop())).then(() => {
      haveRunsEnded = true;
      return this.#events.flushed();
    });
    await this.#endsWithin(limitMs, ended);
    return haveRunsEnded;
  }

  /** Closes the watches; those whose transport does not heed its signal are left behind. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!(await this.#endsWithin(closeMsMax, this.informers.stop())))
      this.#host.log.warn("Watches did not close in time", { waitedMs: closeMsMax });
  }

  async #endsWithin(limitMs: number, work: Promise<void>): Promise<boolean> {
    const limit = new AbortController();
    const isLate = sleep(this.#host.clock, limitMs, limit.signal).then(
      () => true,
      () => false,
    );
    try {
      return !(await Promise.race([work.then(() => false), isLate]));
    } finally {
      limit.abort();
    }
  }

  /**
   * Removes the series of a cluster after its close. Otherwise its last values would be reported for ever.
   */
  forgetMetrics(): void {
    if (this.name !== undefined) this.#host.metrics.forget({ cluster: this.name });
  }
}

function hostOf({ name, host }: ClusterCellOptions): Host {
  if (name === undefined) return host;
  return { ...host, log: host.log.with({ cluster: name }), metrics: metricsWith(host.metrics, { cluster: name }) };
}
