/** Puts caches, controllers and leader election together into one running thing. */
import { SetpointError, type NamespacedName } from "@setpoint/apimachinery";
import { createClient, type Client } from "@setpoint/client";
import { randomSuffix, sleep, type Host } from "@setpoint/host";
import { InformerFactory } from "../cache/informer-factory.ts";
import { storeKey } from "../cache/store.ts";
import { ControllerRunner } from "../controller/controller-runner.ts";
import { errLeaseLost, errStopped } from "../errors.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { fencedTransport } from "../leader/fenced-transport.ts";
import { LeaderElector } from "../leader/leader-elector.ts";
import { checkFreshness, checkSynced, healthReport } from "./health.ts";
import type { HealthReport, Manager, ManagerOptions } from "./manager-options.ts";

/** Well below the 30 s that a pod has by default, so that the lease can still be released. */
const shutdownMsMaxDefault = 10_000;

/** Starts controllers; `ready` of the result tells when their caches are complete. */
export function startManager(options: ManagerOptions): Manager {
  return new RunningManager(options);
}

class RunningManager implements Manager {
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly #options: ManagerOptions;
  readonly #host: Host;
  readonly #elector: LeaderElector | undefined;
  readonly #events: EventRecorder;
  readonly #runners: readonly ControllerRunner[];
  readonly #ready = Promise.withResolvers<void>();
  /** Told to stop: no new runs. */
  readonly #stopping = new AbortController();
  /** Runs must end now: the lease is lost, or the time to stop is over. */
  readonly #aborting = new AbortController();
  #isStarted = false;

  constructor(options: ManagerOptions) {
    const { transport, host, controllers, namespaces, name = "setpoint" } = options;
    this.#options = options;
    this.#host = host;
    const clientOptions = { clock: host.clock, random: host.random, metrics: host.metrics };
    const identity = options.leaderElection?.identity ?? `${name}_${randomSuffix(host.random, 8)}`;
    this.#elector =
      options.leaderElection === undefined
        ? undefined
        : new LeaderElector(createClient(transport, clientOptions), host, { ...options.leaderElection, identity });
    this.client = createClient(
      fencedTransport(transport, () => this.#assertMayWrite()),
      clientOptions,
    );
    this.informers = new InformerFactory(this.client, host);
    this.#events = new EventRecorder(this.client, host, identity);
    this.#runners = controllers.map(
      (definition) =>
        new ControllerRunner({
          definition,
          client: this.client,
          host,
          factory: this.informers,
          namespaces,
          events: this.#events,
          signal: this.#aborting.signal,
        }),
    );
    this.ready = this.#ready.promise;
    this.done = this.#run();
    // Whoever does not look at them must not be stopped by their rejection.
    this.ready.catch(() => {});
    this.done.catch(() => {});
  }

  isLeader(): boolean {
    return this.#elector?.isLeader ?? !this.#aborting.signal.aborted;
  }

  isQuiet(): boolean {
    return this.#isStarted && this.#runners.every((runner) => runner.isQuiet);
  }

  enqueue(controller: string, key: NamespacedName): void {
    for (const runner of this.#runners) if (runner.definition.name === controller) runner.queue.add(storeKey(key));
  }

  healthz(): HealthReport {
    const isRunning = !this.#aborting.signal.aborted;
    const running = { name: "manager", ok: isRunning, message: isRunning ? "running" : "stopped" };
    return healthReport([running, ...this.informers.informers.map(checkFreshness)]);
  }

  readyz(): HealthReport {
    const { checks } = this.healthz();
    return healthReport([...checks, ...this.informers.informers.map(checkSynced)]);
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

  #assertMayWrite(): void {
    if (this.#aborting.signal.aborted) throw new SetpointError(errStopped, "Cannot write: the manager has stopped");
    this.#elector?.assertLeader();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    this.informers.start();
    try {
      // Caches fill while another process leads, so that taking over is quick.
      await Promise.all([this.#sync(signal), this.#lead(signal)]);
      for (const runner of this.#runners) runner.start();
      this.#isStarted = true;
      const end = (await this.#elector?.hold(signal)) ?? (await aborted(signal));
      if (end === "lost") throw this.#leaseLost();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#shutDown();
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    await untilAborted(this.informers.synced(), signal);
    this.#ready.resolve();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    if (this.#elector === undefined) return;
    const status = this.#host.metrics.gauge(
      "leader_election_master_status",
      "Gauge of if the reporting system is master of the relevant lease.",
    );
    const labels = { name: this.#options.leaderElection?.name ?? "" };
    status.set(0, labels);
    await this.#elector.acquire(signal);
    status.set(1, labels);
    // The lease must not end while the caches are still being filled.
    if (!this.#isSynced()) await this.#renewUntilSynced(signal);
  }

  #isSynced(): boolean {
    return this.informers.informers.every((informer) => informer.isSynced);
  }

  async #renewUntilSynced(signal: AbortSignal): Promise<void> {
    const synced = new AbortController();
    void this.informers.synced().then(() => synced.abort(new Error("the caches are complete")));
    const end = await this.#elector?.hold(AbortSignal.any([signal, synced.signal]));
    if (end === "lost") throw this.#leaseLost();
  }

  #leaseLost(): SetpointError {
    const error = new SetpointError(
      errLeaseLost,
      `Cannot go on as leader: Lease "${this.#options.leaderElection?.name}" could not be renewed in time`,
    );
    this.#host.log.error("Lost the lease", { error });
    this.#aborting.abort(error);
    return error;
  }

  /** In this order: no new runs, running ones end, events are written, the lease is released, watches close. */
  async #shutDown(): Promise<void> {
    const { clock } = this.#host;
    const reason = this.#stopping.signal.aborted
      ? this.#stopping.signal.reason
      : new SetpointError(errStopped, "the manager has stopped");
    this.#ready.reject(reason);
    const limit = new AbortController();
    const ended = Promise.all(this.#runners.map((runner) => runner.stop())).then(() => this.#events.flushed());
    const shutdownMsMax = this.#options.shutdownMsMax ?? shutdownMsMaxDefault;
    await Promise.race([ended, sleep(clock, shutdownMsMax, limit.signal).catch(() => {})]);
    limit.abort();
    await this.#elector?.release();
    this.#aborting.abort(reason);
    await this.informers.stop();
    this.#isStarted = false;
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
