/** When a key runs again after a run, and what is logged and counted of it. */
import { isConflict, isSetpointError } from "@setpoint/apimachinery";
import { isOutcomeUnknown } from "@setpoint/client";
import type { Logger, Random } from "@setpoint/host";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { Result } from "../controller/result.ts";
import { errReconcileTimeout, explained, isTerminalError, temporaryDelayMsOf } from "../errors.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { ControllerMetrics } from "./controller-metrics.ts";
import type { RunName } from "./run-name.ts";
import type { FailedVerdict, RunVerdict } from "./run-supervisor.ts";

/**
 * A conflict is retried at least so often, however long the server has refused the key before: now it
 * answers.
 */
const conflictDelayMsMax = 5_000;
/** A shorter delay than this, which a timer does not keep, says nothing. */
const temporaryDelayMsMin = 1;

export interface NextRunPorts {
  readonly definition: Pick<ControllerDefinition, "maxReconcileIntervalMs">;
  readonly queue: Pick<WorkQueue, "addAfter" | "addRateLimited" | "forget">;
  readonly metrics: Pick<ControllerMetrics, "failed">;
  readonly random: Random;
  /** What has run. */
  readonly run: RunName;
}

export function afterSuccess(key: string, result: Result | void, ports: NextRunPorts): RunVerdict {
  const { queue } = ports;
  queue.forget(key);
  addPeriodicRun(key, ports);
  if (result === undefined || result.kind === "awaitChange") return { end: "success", result };
  queue.addAfter(key, result.delayMs);
  return { end: result.delayMs <= 0 ? "requeue" : "requeue_after", result };
}

/**
 * `signal` is the run's: when it has aborted, nothing is wrong with the key, and it is not tried again here.
 */
export function afterError(
  key: string,
  thrown: unknown,
  signal: AbortSignal,
  log: Logger,
  ports: NextRunPorts,
): FailedVerdict {
  const { queue, metrics, run } = ports;
  const isLate = signal.aborted && isSetpointError(signal.reason, errReconcileTimeout);
  const error: unknown = isLate ? signal.reason : explained(thrown);
  if (signal.aborted && !isLate) return { end: "error", error, isStopped: true };
  const isTerminal = isTerminalError(error);
  metrics.failed(isTerminal);
  if (isTerminal) {
    queue.forget(key);
    addPeriodicRun(key, ports);
    log.error(`${run} failed and waits for a change`, { error });
    return { end: "error", error };
  }
  const temporaryMs = temporaryDelayMsOf(error);
  // An error that asks to be retried at once, for ever, would leave no time for anything else: it is backed
  // off like any other.
  const isTemporary = temporaryMs !== undefined && temporaryMs >= temporaryDelayMsMin;
  if (isTemporary) queue.addAfter(key, temporaryMs);
  const retryDelayMs = isTemporary
    ? temporaryMs
    : queue.addRateLimited(key, isConflict(error) ? conflictDelayMsMax : undefined);
  const fields = { error, retryDelayMs: Math.round(retryDelayMs) };
  // Another writer was faster, or the network lost an answer: nobody has to act.
  if (isConflict(error) || isOutcomeUnknown(error) || isTemporary) log.info(`${run} will be retried`, fields);
  else log.error(`${run} failed`, fields);
  return { end: "error", error, retryDelayMs };
}

/** The run that comes at least so often, whatever came of this one. */
function addPeriodicRun(key: string, { queue, definition, random }: NextRunPorts): void {
  const { maxReconcileIntervalMs } = definition;
  if (maxReconcileIntervalMs === undefined) return;
  const jitter = 0.9 + random.next() / 5;
  queue.addAfter(key, maxReconcileIntervalMs * jitter, "low");
}
