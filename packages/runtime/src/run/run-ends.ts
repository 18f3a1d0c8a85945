/** What follows from how a run has ended: when the key runs again, what is logged and counted. */
import { isConflict, isSetpointError } from "@setpoint/apimachinery";
import { isOutcomeUnknown } from "@setpoint/client";
import type { Logger, Random } from "@setpoint/host";
import { errReconcileTimeout, explained, isTerminalError, temporaryDelayMsOf } from "../errors.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ControllerMetrics } from "./controller-metrics.ts";
import type { Result } from "../controller/result.ts";
import type { RunVerdict } from "./run-supervisor.ts";

export interface RunEndsOptions {
  readonly definition: ControllerDefinition;
  readonly queue: WorkQueue;
  readonly metrics: ControllerMetrics;
  readonly random: Random;
}

/** Who met a conflict looks again soon, however long the server has refused it before: it answers, and somebody else is at work. */
const conflictDelayMsMax = 5_000;

/** A shorter delay than this, which a timer does not keep, says nothing. */
const temporaryDelayMsMin = 1;

export class RunEnds {
  readonly #options: RunEndsOptions;

  constructor(options: RunEndsOptions) {
    this.#options = options;
  }

  /** A run has ended well: when the key runs again. */
  succeeded(key: string, result: Result | void): RunVerdict {
    const { queue } = this.#options;
    queue.forget(key);
    this.#lookAgain(key);
    if (result === undefined || result.kind === "awaitChange") return { end: "success", result };
    queue.addAfter(key, result.delayMs);
    return { end: result.delayMs <= 0 ? "requeue" : "requeue_after", result };
  }

  /** A run has thrown: whether and when it is tried again. */
  failed(key: string, thrown: unknown, signal: AbortSignal, log: Logger): RunVerdict {
    const { queue, metrics } = this.#options;
    const isLate = signal.aborted && isSetpointError(signal.reason, errReconcileTimeout);
    const error: unknown = isLate ? signal.reason : explained(thrown);
    // Nothing is wrong with the key: the program stops, or the key is somebody else's now.
    if (signal.aborted && !isLate) return { end: "error", error };
    const isTerminal = isTerminalError(error);
    metrics.failed(isTerminal);
    if (isTerminal) {
      queue.forget(key);
      this.#lookAgain(key);
      log.error("Reconcile failed and waits for a change", { error });
      return { end: "error", error };
    }
    const toldMs = temporaryDelayMsOf(error);
    // What fails and comes again at once, for ever, would leave no time for anything else: that is a failure like any other.
    const wantedMs = toldMs !== undefined && toldMs >= temporaryDelayMsMin ? toldMs : undefined;
    if (wantedMs !== undefined) queue.addAfter(key, wantedMs);
    const delayMs = wantedMs ?? queue.addRateLimited(key, isConflict(error) ? conflictDelayMsMax : undefined);
    const fields = { error, retryDelayMs: Math.round(delayMs) };
    // Somebody else was faster, or the network lost an answer: daily life, and the next run looks again.
    if (isConflict(error) || isOutcomeUnknown(error) || wantedMs !== undefined)
      log.info("Reconcile will be tried again", fields);
    else log.error("Reconcile failed", fields);
    return { end: "error", error, retryDelayMs: delayMs };
  }

  /** At least so often, whatever came of the run. */
  #lookAgain(key: string): void {
    const { queue, definition, random } = this.#options;
    const { maxReconcileIntervalMs } = definition;
    if (maxReconcileIntervalMs === undefined) return;
    const jitter = 0.9 + random.next() / 5;
    queue.addAfter(key, maxReconcileIntervalMs * jitter, "low");
  }
}
