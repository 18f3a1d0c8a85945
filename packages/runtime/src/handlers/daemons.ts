import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { sleep, type Host, type Logger } from "@setpoint/host";
import { temporaryDelayMsOf, isTerminalError } from "../errors.ts";
import type { Daemon } from "../controller/daemon.ts";
import { sleepUntil } from "../controller/sleep-until.ts";

/** Between the runs of a daemon that throws: doubled from the first to the largest. */
const restartDelayMsFirst = 1_000;
const restartDelayMsMax = 60_000;
/** How long to wait for a stopped daemon to return. */
const stopMsMax = 10_000;

export interface DaemonRunnerOptions {
  readonly daemons: Readonly<Record<string, Daemon>>;
  readonly host: Host;
  readonly log: Logger;
  readonly controller: string;
  /** The way to the server for as long as the key is this process's. */
  accompany(
    this: void,
    key: string,
  ): { readonly client: Client; readonly signal: AbortSignal; ended(this: void): void };
  find(this: void, key: string): Stored<KubeObject> | undefined;
  wake(this: void, key: string): void;
}

interface Companions {
  readonly uid: string;
  readonly stopper: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * The daemons of all objects of a controller.
 *
 * Guarantees: at most one of a name runs for an object; those of a namesake begin after those of its
 * predecessor have ended, or have ignored their signal for too long.
 */
export class DaemonRunner {
  readonly #options: DaemonRunnerOptions;
  readonly #running = new Map<string, Companions>();
  /** Daemons whose signal has aborted and that have not returned yet. */
  readonly #stopping = new Map<string, Promise<void>>();
  #isStopped = false;

  constructor(options: DaemonRunnerOptions) {
    this.#options = options;
  }

  /** Objects whose daemons run. */
  get count(): number {
    return this.#running.size;
  }

  /** Starts the object's daemons unless they run. */
  ensure(key: string, object: Stored<KubeObject>): void {
    if (this.#isStopped) return;
    const { uid } = object.metadata;
    const known = this.#running.get(key);
    if (known?.uid === uid) return;
    if (known !== undefined) void this.stop(key);
    const stopper = new AbortController();
    const before = this.#stopping.get(key);
    const { client, signal, ended: release } = this.#options.accompany(key);
    const onAbort = (): void => {
      stopper.abort(signal.reason);
      // If the key comes back, its daemons start again.
      if (this.#running.get(key)?.stopper === stopper) void this.stop(key);
    };
    const ended = Promise.all(
      Object.entries(this.#options.daemons).map(([name, daemon]) =>
        this.#keep(name, daemon, key, object, { client, signal: stopper.signal, before }),
      ),
    ).finally(() => {
      signal.removeEventListener("abort", onAbort);
      release();
    });
    this.#running.set(key, { uid, stopper, ended });
    this.#count();
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  }

  /** Tells the daemons of a key to stop; resolves when they have, or have had time enough. */
  async stop(key: string): Promise<void> {
    const known = this.#running.get(key);
    if (known === undefined) return this.#stopping.get(key);
    this.#running.delete(key);
    this.#count();
    const stopping = this.#end(key, known).finally(() => {
      if (this.#stopping.get(key) === stopping) this.#stopping.delete(key);
    });
    this.#stopping.set(key, stopping);
    return stopping;
  }

  /** None starts after this. */
  async stopAll(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running.keys()].map((key) => this.stop(key)));
    await Promise.all(this.#stopping.values());
  }

  async #end(key: string, { stopper, ended }: Companions): Promise<void> {
    const { host, log } = this.#options;
    stopper.abort(new Error("the object is deleted, paused or owned by another shard, or the manager stops"));
    const limit = new AbortController();
    const late = sleep(host.clock, stopMsMax, limit.signal).then(
      () => true,
      () => false,
    );
    if (await Promise.race([ended.then(() => false), late]))
      log.warn("Daemon did not stop in time", { object: key, waitedMs: stopMsMax });
    limit.abort();
  }

  async #keep(
    name: string,
    daemon: Daemon,
    key: string,
    object: Stored<KubeObject>,
    ports: { readonly client: Client; readonly signal: AbortSignal; readonly before: Promise<void> | undefined },
  ): Promise<void> {
    const { client, signal, before } = ports;
    const { host, find, wake } = this.#options;
    const { clock, random } = host;
    const log = this.#options.log.with({ object: key, daemon: name });
    const current = (): Stored<KubeObject> => find(key) ?? object;
    const own = { signal, log, clock, random, client, current };
    const context = { ...own, sleep: sleepUntil(clock, signal), wake: () => wake(key) };
    await before;
    for (let failures = 0; !signal.aborted; failures++) {
      const startedMs = clock.monotonic();
      try {
        await daemon(current(), context);
        return;
      } catch (error) {
        if (signal.aborted) return;
        // A run this long resets the back-off: one failure a day is no series of failures.
        if (clock.monotonic() - startedMs > restartDelayMsMax) failures = 0;
        const delayMs = this.#note(error, failures, log);
        if (delayMs === undefined) return;
        await sleep(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  /** When to start again; undefined for never. */
  #note(error: unknown, failures: number, log: Logger): number | undefined {
    const { host, controller } = this.#options;
    host.metrics
      .counter("setpoint_daemon_failures_total", "Failures of daemons of a controller's objects.")
      .add(1, { controller });
    if (isTerminalError(error)) {
      log.error("Daemon failed and is not restarted", { error });
      return undefined;
    }
    const fullMs = Math.min(restartDelayMsFirst * 2 ** failures, restartDelayMsMax);
    const delayMs = temporaryDelayMsOf(error) ?? fullMs * (0.5 + host.random.next() / 2);
    log.warn("Daemon failed and is restarted", { error, retryDelayMs: Math.round(delayMs) });
    return delayMs;
  }

  #count(): void {
    this.#options.host.metrics
      .gauge("setpoint_daemon_objects", "Objects whose daemons run.")
      .set(this.#running.size, { controller: this.#options.controller });
  }
}
