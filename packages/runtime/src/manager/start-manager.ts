/** Puts caches, controllers and the right to work together into one running thing. */
import { SetpointError, type NamespacedName, type Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { InformerFactory } from "../cache/informer-factory.ts";
import { explain } from "../why/explain.ts";
import type { WhyQuery, WhyReport } from "../why/why-report.ts";
import { errCluster, errLeaseLost, errStopped } from "../errors.ts";
import { checkManager } from "./check-manager.ts";
import { ClusterCell } from "./cluster-cell.ts";
import { ClusterSet } from "./cluster-set.ts";
import { createManagerLease, leaseHolderOf, type ManagerLease } from "./manager-lease.ts";
import { checkLease, checkLiveness, checkReadiness, healthReport } from "./health.ts";
import { allKeys } from "../coordination/key-ownership.ts";
import type {
  BusyKey,
  SlowedKey,
  ClusterRegistry,
  HealthCheck,
  HealthReport,
  Manager,
  ManagerOptions,
  ShardState,
} from "./manager-options.ts";
import { observeManager } from "./manager-metrics.ts";
import { shardStateOf } from "./shard-state.ts";

/** Well below the 30 s that a pod has by default, so that the lease can still be released. */
const shutdownMsMaxDefault = 10_000;

/** Starts controllers; `ready` of the result tells when their caches are complete. */
export function startManager(options: ManagerOptions): Manager {
  checkManager(options);
  return new RunningManager(options);
}

class RunningManager implements Manager {
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  readonly #options: ManagerOptions;
  readonly #host: Host;
  readonly #lease: ManagerLease;
  readonly #home: ClusterCell;
  readonly #others: ClusterSet;
  readonly #ready = Promise.withResolvers<void>();
  /** Told to stop: no new runs. */
  readonly #stopping = new AbortController();
  /** Runs must end now: the lease is lost, or the time to stop is over. */
  readonly #aborting = new AbortController();
  readonly #stopObserving: () => void;
  #isStarted = false;

  constructor(options: ManagerOptions) {
    const { transport, host, clusters } = options;
    this.#options = options;
    this.#host = host;
    this.#lease = createManagerLease(options, (slots) => this.#enqueueChanged(slots));
    this.#home = this.#createCell(undefined, transport, this.#aborting.signal, clusters === undefined);
    this.#others = new ClusterSet({
      log: host.log,
      shutdownMsMax: this.#shutdownMsMax,
      create: (name, other, signal) =>
        this.#createCell(name, other, AbortSignal.any([signal, this.#aborting.signal]), true),
    });
    this.#stopObserving = observeManager(host, options, this.#lease, () => this.#cells);
    this.ready = this.#ready.promise;
    this.done = this.#run();
    // A rejection that the caller does not handle must not end the process.
    this.ready.catch(() => {});
    this.done.catch(() => {});
  }

  get client(): Client {
    return this.#home.client;
  }

  get informers(): InformerFactory {
    return this.#home.informers;
  }

  get clusters(): ClusterRegistry {
    return this.#others;
  }

  isLeader(): boolean {
    // A lease that was not released, because writes may be on their way, is nobody's to write by.
    return !this.#aborting.signal.aborted && (leaseHolderOf(this.#lease)?.isHeld ?? true);
  }

  shard(): ShardState | undefined {
    return shardStateOf(this.#lease);
  }

  isQuiet(): boolean {
    return this.#isStarted && this.#cells.every((cell) => cell.isQuiet);
  }

  busyKeys(): readonly BusyKey[] {
    return this.#cells.flatMap((cell) => cell.busyKeys);
  }

  slowedKeys(): readonly SlowedKey[] {
    return this.#cells.flatMap((cell) => cell.slowedKeys);
  }

  enqueue(controller: string, key: NamespacedName, cluster?: string): void {
    for (const cell of this.#cellsOf(cluster)) cell.enqueue(controller, key);
  }

  async why(query: WhyQuery): Promise<WhyReport | undefined> {
    const { clock } = this.#host;
    let first: WhyReport | undefined;
    for (const { client, controllers, name } of this.#cellsOf(query.cluster)) {
      const report = await explain(query, { client, clock, cluster: name, controllers });
      // Of several clusters the one that has the object is meant.
      if (report?.isPresent === true) return report;
      first ??= report;
    }
    return first;
  }

  healthz(): HealthReport {
    const isRunning = !this.#aborting.signal.aborted;
    const running = { name: "manager", ok: isRunning, message: isRunning ? "running" : "stopped" };
    return healthReport([running, ...this.#leaseChecks(), ...this.#checks(checkLiveness)]);
  }

  readyz(): HealthReport {
    return healthReport([...this.healthz().checks, ...this.#checks(checkReadiness)]);
  }

  metrics(): string {
    return this.#host.metrics.expose();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new SetpointError(errStopped, "the manager has been stopped"));
    await this.done.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #cells(): readonly ClusterCell[] {
    return [this.#home, ...this.#others.cells];
  }

  get #shutdownMsMax(): number {
    return this.#options.shutdownMsMax ?? shutdownMsMaxDefault;
  }

  #cellsOf(cluster: string | undefined): readonly ClusterCell[] {
    if (cluster === undefined) return this.#cells;
    const cell = this.#others.get(cluster);
    if (cell !== undefined) return [cell];
    const names = this.#others.names().map((name) => `"${name}"`);
    throw new SetpointError(
      errCluster,
      `Cannot find cluster "${cluster}": the manager has ${names.length === 0 ? "no clusters by name" : names.join(", ")}`,
    );
  }

  #createCell(
    name: string | undefined,
    transport: Transport,
    signal: AbortSignal,
    hasControllers: boolean,
  ): ClusterCell {
    const { host, controllers, namespaces, caches, dryRun } = this.#options;
    const { kind, identity, holder } =
      this.#lease.kind === "sharded" ? this.#lease : { ...this.#lease, holder: undefined };
    return new ClusterCell({
      ...{ name, transport, host, namespaces, caches, dryRun, identity, signal },
      controllers: hasControllers ? controllers : [],
      ownership: kind === "sharded" && holder !== undefined ? holder.permits.ownership(name, signal) : allKeys(signal),
      assertMayWrite: () => this.#assertMayWrite(),
    });
  }

  #leaseChecks(): readonly HealthCheck[] {
    if (this.#lease.kind === "elected") return [checkLease(this.#lease.holder)];
    const shard = this.shard();
    if (shard === undefined) return [];
    const { epoch, members, runnableShare, share } = shard;
    const part = `runs ${Math.round(runnableShare * 100)} % of the keys, ${Math.round(share * 100)} % are its own`;
    return [{ name: "shard", ok: true, message: `epoch ${epoch}, ${members.length} members, ${part}` }];
  }

  #checks(check: typeof checkLiveness): readonly HealthCheck[] {
    return this.#cells.flatMap((cell) => check(cell, this.#host.clock, this.#options.health ?? {}));
  }

  #assertMayWrite(): void {
    if (this.#aborting.signal.aborted) throw new SetpointError(errStopped, "Cannot write: the manager has stopped");
    leaseHolderOf(this.#lease)?.assertHeld();
  }

  #enqueueChanged(slots: ReadonlySet<number>): void {
    if (!this.#isStarted || this.#lease.kind !== "sharded") return;
    const { permits } = this.#lease.holder;
    for (const cell of this.#cells) void cell.enqueueChanged((key) => slots.has(permits.slotOf(cell.name, key)));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    this.#home.start();
    void this.#provideClusters(signal);
    try {
      // Caches fill while another process leads, so that taking over is quick.
      await Promise.all([this.#sync(signal), this.#begin(signal)]);
      this.#home.activate();
      this.#others.activate();
      this.#isStarted = true;
      const end = (await leaseHolderOf(this.#lease)?.hold(signal)) ?? (await aborted(signal));
      if (end === "lost") throw this.#leaseLost();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#shutDown();
    }
  }

  async #provideClusters(signal: AbortSignal): Promise<void> {
    try {
      await this.#options.clusters?.(this.#others, signal);
    } catch (error) {
      if (!signal.aborted) this.#host.log.error("The provider of clusters threw", { error });
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    await untilAborted(this.#home.synced(), signal);
    this.#ready.resolve();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const holder = leaseHolderOf(this.#lease);
    if (holder === undefined) return;
    await holder.acquire(signal);
    // The lease must not end while the caches are still being filled.
    if (!this.#home.isSynced) await this.#renewUntilSynced(signal);
  }

  async #renewUntilSynced(signal: AbortSignal): Promise<void> {
    const synced = new AbortController();
    void this.#home.synced().then(() => synced.abort(new Error("the caches are complete")));
    const end = await leaseHolderOf(this.#lease)?.hold(AbortSignal.any([signal, synced.signal]));
    if (end === "lost") throw this.#leaseLost();
  }

  #leaseLost(): SetpointError {
    const { leaderElection, sharding } = this.#options;
    const error = new SetpointError(
      errLeaseLost,
      sharding === undefined
        ? `Cannot continue as leader: Lease "${leaderElection?.name}" could not be renewed in time`
        : `Cannot continue in the group "${sharding.name}": this process's Lease has been removed`,
    );
    this.#host.log.error("Lost the lease", { error });
    this.#aborting.abort(error);
    return error;
  }

  /**
   * In this order: no new runs, running ones end, events are written, the lease is released if they have,
   * watches close.
   */
  async #shutDown(): Promise<void> {
    const reason = this.#stopping.signal.aborted
      ? this.#stopping.signal.reason
      : new SetpointError(errStopped, "the manager has stopped");
    this.#ready.reject(reason);
    this.#others.deactivate();
    const holding = new AbortController();
    const held = this.#keepWhileDraining(holding.signal);
    const drained = await Promise.all(this.#cells.map((cell) => cell.drain(this.#shutdownMsMax)));
    holding.abort(reason);
    await held;
    // Runs that have not ended in time must not write when others may.
    this.#aborting.abort(reason);
    await this.#release(drained.every(Boolean));
    await Promise.all(this.#cells.map((cell) => cell.close()));
    this.#stopObserving();
    this.#isStarted = false;
  }

  /** Releases the lease, but not when a run was cut short: its writes may still be on their way. */
  async #release(haveRunsEnded: boolean): Promise<void> {
    const holder = leaseHolderOf(this.#lease);
    if (holder === undefined) return;
    if (haveRunsEnded) return holder.release();
    const why = "runs did not end in time, and their writes may still be on their way";
    this.#host.log.warn("Lease is not released; it expires", { why, waitedMs: this.#shutdownMsMax });
  }

  /** Runs that end may take longer than the lease lasts. */
  async #keepWhileDraining(signal: AbortSignal): Promise<void> {
    const holder = leaseHolderOf(this.#lease);
    if (holder?.isHeld !== true) return;
    if ((await holder.hold(signal)) === "lost") this.#leaseLost();
  }
}

function aborted(signal: AbortSignal): Promise<"stopped"> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve("stopped");
    signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
}

/** The promise's value, or the signal's reason when that comes first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([promise, aborted(signal).then(() => Promise.reject<T>(signal.reason))]);
}
