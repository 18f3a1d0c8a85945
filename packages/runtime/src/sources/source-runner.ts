import { type NamespacedName, messageOf } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { sleep, type Host, type Logger } from "@setpoint/host";
import type { Priority } from "../queue/priority.ts";
import type { Source } from "../controller/source.ts";
import type { CacheReader } from "../controller/watch-definition.ts";

/** Between the runs of a source that fails: doubled from the first to the largest. */
const restartDelayMsFirst = 1_000;
const restartDelayMsMax = 60_000;
/** How long stopping waits for a source that does not look at its signal. */
const stopMsMax = 5_000;

export interface SourceRunnerOptions {
  readonly controller: string;
  readonly kind: KindRef;
  readonly cache: CacheReader;
  readonly host: Host;
  readonly log: Logger;
  readonly wake: (key: NamespacedName, priority?: Priority) => boolean;
}

/** A source as health shows it. */
export interface SourceState {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

/**
 * Keeps one source running: what it throws ends in the log, in a metric and in health, and never in a silent
 * end.
 */
export class SourceRunner {
  readonly #source: Source;
  readonly #options: SourceRunnerOptions;
  readonly #labels: { readonly controller: string; readonly source: string };
  readonly #log: Logger;
  #stopper = new AbortController();
  #running: Promise<void> | undefined;
  #failures = 0;
  #lastError = "";

  constructor(source: Source, options: SourceRunnerOptions) {
    this.#source = source;
    this.#options = options;
    this.#labels = { controller: options.controller, source: source.name };
    this.#log = options.log.with({ source: source.name });
  }

  get state(): SourceState {
    const name = `source ${this.#source.name} of ${this.#options.controller}`;
    if (this.#running === undefined) return { name, ok: true, message: "not started" };
    const message = `${this.#failures} failures in a row, the last: ${this.#lastError}`;
    return this.#failures === 0 ? { name, ok: true, message: "running" } : { name, ok: false, message };
  }

  start(): void {
    this.#setUp(1);
    this.#running ??= this.#run(this.#stopper.signal);
  }

  async stop(): Promise<void> {
    this.#stopper.abort(new Error("the controller has stopped"));
    const limit = new AbortController();
    const { clock } = this.#options.host;
    const isLate = await Promise.race([
      (this.#running ?? Promise.resolve()).then(() => false),
      sleep(clock, stopMsMax, limit.signal).then(
        () => true,
        () => false,
      ),
    ]);
    limit.abort();
    if (isLate) this.#log.warn("Source did not stop in time", { waitedMs: stopMsMax });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { host, kind, cache, wake } = this.#options;
    const { clock, random } = host;
    const ports = { clock, random, log: this.#log, signal, cache, kind, wake, works: () => this.#works() };
    while (!signal.aborted) {
      try {
        await this.#source.run(ports);
        if (!signal.aborted) throw new Error("the source ended without an error");
      } catch (error) {
        if (signal.aborted) return;
        await this.#backOff(signal, error);
      }
    }
  }

  async #backOff(signal: AbortSignal, error: unknown): Promise<void> {
    const { clock, random, metrics } = this.#options.host;
    const fullMs = Math.min(restartDelayMsFirst * 2 ** this.#failures++, restartDelayMsMax);
    const delayMs = fullMs * (0.5 + random.next() / 2);
    this.#lastError = messageOf(error);
    this.#setUp(0);
    metrics.counter("setpoint_source_failures_total", "Failures of a source of a controller.").add(1, this.#labels);
    this.#log.warn("Source failed and is restarted", { error, retryDelayMs: Math.round(delayMs) });
    await sleep(clock, delayMs, signal).catch(() => {});
  }

  #works(): void {
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#setUp(1);
    this.#log.info("Source recovered");
  }

  #setUp(value: 0 | 1): void {
    const { metrics } = this.#options.host;
    metrics
      .gauge("setpoint_source_up", "Whether a source of a controller works (1) or fails (0).")
      .set(value, this.#labels);
  }
}
