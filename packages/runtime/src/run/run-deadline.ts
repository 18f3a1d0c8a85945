import { SetpointError } from "@setpoint/apimachinery";
import type { Clock, Host, Logger, Timer } from "@setpoint/host";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import { errReconcileTimeout } from "../errors.ts";
import type { ControllerMetrics } from "./controller-metrics.ts";
import type { Worker } from "./workers.ts";

/** How long a run may continue after its deadline before the worker takes the next key. */
const graceMs = 5_000;

export interface RunDeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Of the manager. */
  readonly signal: AbortSignal;
  /** Called when the deadline has passed and the run's signal has aborted. */
  readonly onTimeout: () => void;
  /** The run does not end. */
  readonly onIgnored: () => void;
}

/** The deadline of a run whose controller has one. */
export function createRunDeadline({
  definition: { timeoutMs },
  host: { clock },
  log,
  metrics,
  worker,
  signal,
}: {
  readonly definition: Pick<ControllerDefinition, "timeoutMs">;
  readonly host: Host;
  readonly log: Logger;
  readonly metrics: Pick<ControllerMetrics, "timedOut">;
  readonly worker: Pick<Worker, "release">;
  readonly signal: AbortSignal;
}): RunDeadline | undefined {
  if (timeoutMs === undefined) return undefined;
  const onIgnored = (): void => {
    log.error("Reconcile ignores its timeout; its worker takes other keys, its key stays locked", { timeoutMs });
    worker.release();
  };
  return new RunDeadline({ clock, timeoutMs, signal, onTimeout: () => metrics.timedOut(), onIgnored });
}

/** Tells a run to end when it takes too long, and gives it up when it does not listen. */
export class RunDeadline {
  readonly #stopper = new AbortController();
  readonly #options: RunDeadlineOptions;
  readonly #onAbort = (): void => this.#stopper.abort(this.#options.signal.reason);
  #timer: Timer;

  constructor(options: RunDeadlineOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#onAbort();
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#timer = options.clock.setTimer(() => this.#expire(), options.timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#stopper.signal;
  }

  end(): void {
    this.#timer.cancel();
    this.#options.signal.removeEventListener("abort", this.#onAbort);
  }

  #expire(): void {
    const { clock, timeoutMs, onTimeout, onIgnored } = this.#options;
    const message = `Cannot continue the reconcile: it took ${timeoutMs} ms, the limit of timeoutMs`;
    this.#stopper.abort(new SetpointError(errReconcileTimeout, message));
    onTimeout();
    this.#timer = clock.setTimer(onIgnored, graceMs);
  }
}
