import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ConditionInit, ReconcileContext } from "../controller/reconcile-context.ts";
import type { Result } from "../controller/result.ts";
import { declaresStatusField } from "../controller/status-field.ts";
import { deletionCondition, deletionReportDueMs, reportsDeletion } from "../status/deletion-condition.ts";
import {
  failureCondition,
  failureMessage,
  failureReason,
  isFailureReportable,
  refusedMessage,
} from "../status/failure-condition.ts";
import { refusalOf, type Refusal } from "../status/refusal.ts";
import { reportDueMs } from "../status/reported-problem.ts";
import { isStalledBy, stalled, unstalled } from "../status/stalled.ts";
import type { StatusWriter } from "../status/status-writer.ts";
import type { KeyState } from "./key-state.ts";
import { runNameOf, type RunName } from "./run-name.ts";
import type { FailedVerdict } from "./run-supervisor.ts";

/** The dependencies of a run's report. */
export interface RunReportPorts {
  readonly definition: ControllerDefinition;
  readonly host: Host;
  readonly log: Logger;
  readonly state: KeyState;
  readonly status: StatusWriter;
  readonly event: ReconcileContext["event"];
  /** The current reconciled object, own writes included. */
  current(this: void): Stored<KubeObject>;
  /** Children of the object, own writes included. */
  owned(this: void, kind: KindRef): readonly KubeObject[];
  /** Whether an error is the server's answer to a write of this run. */
  isRefusedWrite(this: void, error: object): boolean;
  /** The events and conditions of steps, for a run that succeeded. */
  finishedSteps(this: void): ConditionInit | undefined;
  /** Runs the key again after this time at the latest. */
  checkAfter(this: void, delayMs: number): void;
}

/**
 * Reports a run on its object by conditions and events: a refusal, repeated failures, a deletion that does
 * not finish, and the end of each. Without the kind's schema it only emits events.
 */
export class RunReport {
  readonly runName: RunName;
  readonly #ports: RunReportPorts;
  readonly #hasConditions: boolean;
  #refusal: Refusal | undefined;
  /** The author's code has thrown. Conditions that it set before must still be written. */
  #hasThrown = false;
  #isStatusRefused = false;

  constructor(ports: RunReportPorts) {
    this.#ports = ports;
    this.runName = runNameOf(ports.definition, ports.current());
    this.#hasConditions = declaresStatusField(ports.definition.kind, "conditions");
  }

  /** Writes the pending part of the status. */
  async flush(signal?: AbortSignal): Promise<void> {
    try {
      await this.#ports.status.flush(signal);
    } catch (error) {
      this.#isStatusRefused = true;
      throw error;
    }
  }

  /** The author's code has succeeded: the refusal of an earlier run is over. */
  concluded(): void {
    const { status, definition, current, finishedSteps } = this.#ports;
    status.conclude();
    if (!this.#hasConditions) return;
    const finished = finishedSteps();
    if (finished !== undefined) status.condition(finished);
    const accepted = definition.health === undefined ? unstalled(current()) : undefined;
    if (accepted !== undefined && !status.hasSaid(accepted.type)) status.condition(accepted);
  }

  /** The author's code has thrown. Returns the refusal, if the error is one. */
  thrown(error: unknown): Refusal | undefined {
    const { status, event, current, isRefusedWrite } = this.#ports;
    this.#hasThrown = true;
    const refusal = refusalOf(error, isRefusedWrite);
    this.#refusal = refusal;
    if (refusal === undefined) return undefined;
    // What the status says already is no news.
    if (!this.#hasConditions || !isStalledBy(current(), refusal)) event("Warning", refusal.reason, refusal.message);
    if (this.#hasConditions) status.condition(stalled(refusal));
    return refusal;
  }

  /**
   * The run has failed, and the time of the next one is known. `signal` outlives the deadline of the run.
   */
  async failed({ error, retryDelayMs, isStopped }: FailedVerdict, signal: AbortSignal): Promise<void> {
    const { state, definition, current, log } = this.#ports;
    if (isStopped !== true) {
      state.failures++;
      const isNews = this.#reportFailure(error, retryDelayMs);
      const { deletionTimestamp, finalizers = [] } = current().metadata;
      if (deletionTimestamp !== undefined && finalizers.includes(definition.finalizer)) this.deletionPending({ error });
      if (!this.#hasThrown && !isNews) return;
    }
    if (this.#isStatusRefused) return;
    await this.flush(signal).catch((cause: unknown) => log.debug("Status was not written", { error: cause }));
  }

  /** The run has ended well, and its status is written. */
  recovered(): void {
    const { state, event } = this.#ports;
    if (this.#refusal !== undefined) return;
    if (state.reportedFailure !== undefined)
      event("Normal", "ReconcileSucceeded", `The ${this.runName.toLowerCase()} succeeds again`);
    state.failures = 0;
    state.reportedFailure = undefined;
  }

  /**
   * The object is being deleted and still exists. After a while this reports what holds it. `waitsFor`: why
   * this controller's cleanup has not finished; undefined when other finalizers hold the object. Returns
   * whether there is something to write.
   */
  deletionPending(waitsFor?: Result | { readonly error: unknown }): boolean {
    const { definition, state, status, event, host, current, owned, checkAfter } = this.#ports;
    const object = current();
    const isOthers = waitsFor === undefined;
    // Of several controllers of a kind the first that notices reports it.
    if (isOthers && state.reportedDeletion === undefined && reportsDeletion(object)) return false;
    const children = definition.owns.flatMap((kind) => owned(kind));
    const cleanup = isOthers ? undefined : { finalizer: definition.finalizer, waitsFor };
    const condition = deletionCondition({ object, cleanup, children });
    if (condition === undefined || (isOthers && !this.#hasConditions)) return false;
    const nowMs = host.clock.monotonic();
    const longMs = deletionReportDueMs(object, host.clock.now());
    const dueMs = longMs > 0 ? longMs : reportDueMs(state.reportedDeletion, condition.message, nowMs);
    if (dueMs !== undefined && dueMs > 0) checkAfter(dueMs);
    if (dueMs !== 0) return false;
    state.reportedDeletion = { message: condition.message, reportedMs: nowMs };
    event("Warning", condition.reason, condition.message);
    if (this.#hasConditions) status.condition(condition);
    return this.#hasConditions;
  }

  /** Whether there is something new to report. */
  #reportFailure(error: unknown, retryDelayMs: number | undefined): boolean {
    const { state, event, status, definition, host } = this.#ports;
    const isRefused = this.#refusal !== undefined;
    if (!isRefused && !isFailureReportable(error, state.failures)) return false;
    const run = this.runName;
    const message = isRefused ? refusedMessage(run, error) : failureMessage(run, error, retryDelayMs);
    const nowMs = host.clock.monotonic();
    if (reportDueMs(state.reportedFailure, message, nowMs) !== 0) return false;
    state.reportedFailure = { message, reportedMs: nowMs };
    if (!isRefused) event("Warning", failureReason, message);
    // With declared conditions `Ready` follows from `Stalled`; and the author's own reason is the better one.
    const isExplained = (isRefused && definition.health !== undefined) || status.explainsNotReady();
    if (this.#hasConditions && !isExplained) status.condition(failureCondition(message));
    return this.#hasConditions;
  }
}
