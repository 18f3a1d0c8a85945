import type { Probe } from "@setpoint/api";
import type { Clock, Timer } from "@setpoint/host";
import type { ProbeResult } from "./probe-runner.ts";

export type ProbeName = "Startup" | "Liveness" | "Readiness";

export interface ProberOptions {
  readonly clock: Clock;
  readonly probes: { readonly startup?: Probe; readonly liveness?: Probe; readonly readiness?: Probe };
  /**
   * What was known of a container that ran before this agent did: its readiness stays until a probe says
   * otherwise.
   */
  readonly before?: { readonly started: boolean; readonly ready: boolean };
  readonly run: (probe: Probe) => Promise<ProbeResult>;
  /** The state of `started` or `ready` changed. */
  readonly onChange: () => void;
  readonly onFailure: (name: ProbeName, message: string) => void;
  /** The startup or liveness probe has failed often enough: the container must be restarted. */
  readonly onUnhealthy: (name: ProbeName, probe: Probe) => void;
}

/** Runs the probes of one running container; the startup probe holds the others back until it succeeds. */
export class Prober {
  readonly #options: ProberOptions;
  readonly #timers = new Set<Timer>();
  #started = false;
  #ready = false;
  #stopped = false;

  constructor(options: ProberOptions) {
    this.#options = options;
    const { startup } = options.probes;
    if (startup === undefined || options.before?.started === true) this.#begin();
    else this.#loop("Startup", startup, () => this.#begin());
  }

  get started(): boolean {
    return this.#started;
  }

  get ready(): boolean {
    return this.#ready;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #begin(): void {
    const { liveness, readiness } = this.#options.probes;
    this.#started = true;
    this.#ready = readiness === undefined || this.#options.before?.ready === true;
    if (liveness !== undefined) this.#loop("Liveness", liveness, () => {});
    if (readiness !== undefined)
      this.#loop(
        "Readiness",
        readiness,
        () => this.#setReady(true),
        () => this.#setReady(false),
      );
    this.#options.onChange();
  }

  #setReady(ready: boolean): void {
    if (this.#ready === ready) return;
    this.#ready = ready;
    this.#options.onChange();
  }

  #loop(name: ProbeName, probe: Probe, onSuccess: () => void, onFailed?: () => void): void {
    let successes = 0;
    let failures = 0;
    const attempt = async (): Promise<void> => {
      const result = await this.#options.run(probe);
      if (this.#stopped) return;
      successes = result.ok ? successes + 1 : 0;
      failures = result.ok ? 0 : failures + 1;
      if (!result.ok) this.#options.onFailure(name, result.message);
      if (successes >= (probe.successThreshold ?? 1)) {
        onSuccess();
        if (name === "Startup") return;
      }
      if (failures >= (probe.failureThreshold ?? 3)) {
        if (onFailed === undefined) return this.#options.onUnhealthy(name, probe);
        onFailed();
      }
      this.#after((probe.periodSeconds ?? 10) * 1_000, attempt);
    };
    this.#after((probe.initialDelaySeconds ?? 0) * 1_000, attempt);
  }

  #after(delayMs: number, action: () => Promise<void>): void {
    const timer = this.#options.clock.setTimer(() => {
      this.#timers.delete(timer);
      void action();
    }, delayMs);
    this.#timers.add(timer);
  }
}
