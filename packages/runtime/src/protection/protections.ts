/** Slows down or stops a controller that misbehaves, and reports it on the object. */
import { isApiError, type KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import { storeKey } from "../cache/store.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { conditionsOf } from "../status/conditions.ts";
import type { WriteGuard } from "../writes/write-guard.ts";
import {
  FieldManagerConflicts,
  isConflictOver,
  otherManagerOf,
  type FieldManagerConflict,
} from "./field-manager-conflicts.ts";
import { afterIdleRun, isSlow, loopWaitMs, type ReconcileLoop } from "./reconcile-loops.ts";
import { WriteBudget } from "./write-budget.ts";

const idleRunsPerMinuteDefault = 120;
/**
 * The condition of an object whose reconcile is slowed down. Its reason is `ReconcileLoop` or
 * `FieldManagerConflict`.
 */
const conditionType = "Slowed";
const reconcileLoopMessage =
  "The reconcile runs again and again although nothing but its own writes has changed; it is slowed down until another change arrives";

/** Why a key is slowed down: the reason of its condition. */
export type ProtectionReason = "ReconcileLoop" | "FieldManagerConflict";

/** What slows a key down. */
export interface ProtectedKey {
  loop: ReconcileLoop | undefined;
  fieldConflict: FieldManagerConflict | undefined;
}

export interface ProtectionsOptions {
  readonly definition: ControllerDefinition;
  readonly host: Host;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly client: Client;
  /** The keys of the controller of which anything is remembered. */
  keys(this: void): Iterable<ProtectedKey>;
  /** All present children of all objects of the controller. */
  childCount(this: void): number;
}

export class Protections {
  readonly #options: ProtectionsOptions;
  readonly #idleRunsPerMinute: number;
  readonly #conflicts = new FieldManagerConflicts();
  readonly #budget: WriteBudget;
  readonly #stopCounting: () => void;

  constructor(options: ProtectionsOptions) {
    const { definition, host, log, childCount } = options;
    const limits = definition.limits ?? {};
    this.#options = options;
    this.#idleRunsPerMinute = limits.idleRunsPerMinute ?? idleRunsPerMinuteDefault;
    this.#budget = new WriteBudget({ controller: definition.name, limits, host, log, childCount });
    this.#stopCounting = host.metrics.onExpose(() => this.#count());
  }

  /** Checks each write of a run of the key. */
  guardOf(state: ProtectedKey): WriteGuard {
    return {
      check: (write) => this.#budget.check(write),
      written: (write) => {
        state.fieldConflict = this.#conflicts.afterWrite(write, state.fieldConflict, this.#nowMs);
      },
    };
  }

  /** The delay until the key may run, in milliseconds. Ends a conflict that is over. */
  waitMs(state: ProtectedKey, object: KubeObject): number {
    const nowMs = this.#nowMs;
    if (state.fieldConflict !== undefined && isConflictOver(state.fieldConflict, object, nowMs))
      state.fieldConflict = undefined;
    const conflictMs = Math.max(0, (state.fieldConflict?.notBeforeMs ?? 0) - nowMs);
    return Math.max(loopWaitMs(state.loop, nowMs), conflictMs);
  }

  close(): void {
    this.#count();
    this.#stopCounting();
  }

  /**
   * Before a run of a fighting key: reads the other manager from the server while the other's value is there.
   */
  async beforeRun(state: ProtectedKey, object: Stored<KubeObject>): Promise<void> {
    const { fieldConflict: conflict } = state;
    if (conflict === undefined || conflict.isReported) return;
    const reported = { ...conflict, manager: await this.#askManager(conflict), isReported: true };
    state.fieldConflict = reported;
    this.#report(object, "FieldManagerConflict", conflictMessage(reported));
  }

  /**
   * After a successful run. `isEcho`: only own writes have woken the key meanwhile. `isSoon`: it runs again
   * soon. Returns the delay in milliseconds after which the key should run once more to clear its condition.
   */
  afterRun(state: ProtectedKey, object: Stored<KubeObject>, isEcho: boolean, isSoon: boolean): number | undefined {
    if (state.fieldConflict !== undefined) return Math.max(0, state.fieldConflict.untilMs - this.#nowMs);
    const wasSlow = isSlow(state.loop);
    if (!isEcho || !isSoon) {
      state.loop = undefined;
      return wasSlow ? 0 : undefined;
    }
    state.loop = afterIdleRun(state.loop, this.#idleRunsPerMinute, this.#nowMs);
    if (!wasSlow && isSlow(state.loop)) this.#report(object, "ReconcileLoop", reconcileLoopMessage);
    return undefined;
  }

  /** Which protection holds the key back now; undefined when none does. */
  holderOf(state: ProtectedKey): ProtectionReason | undefined {
    if (state.fieldConflict !== undefined) return "FieldManagerConflict";
    return isSlow(state.loop) && loopWaitMs(state.loop, this.#nowMs) > 0 ? "ReconcileLoop" : undefined;
  }

  /** Why the key is slowed down; undefined when it is not. */
  messageOf({ fieldConflict: conflict, loop }: ProtectedKey): string | undefined {
    if (conflict !== undefined) return conflictMessage(conflict);
    return isSlow(loop) ? reconcileLoopMessage : undefined;
  }

  /**
   * What the object's condition has to report; undefined when it does already, or there is nothing to report.
   */
  conditionOf({ fieldConflict: conflict, loop }: ProtectedKey, object: Stored<KubeObject>): ConditionInit | undefined {
    if (conflict?.isReported === true)
      return {
        type: conditionType,
        status: "True",
        reason: "FieldManagerConflict",
        message: conflictMessage(conflict),
      };
    if (isSlow(loop))
      return { type: conditionType, status: "True", reason: "ReconcileLoop", message: reconcileLoopMessage };
    const isReported = conditionsOf((object as { readonly status?: object }).status).some(
      ({ type, status }) => type === conditionType && status === "True",
    );
    if (!isReported) return undefined;
    return { type: conditionType, status: "False", reason: "AsUsual", message: "The reconcile runs at its usual pace" };
  }

  get #nowMs(): number {
    return this.#options.host.clock.monotonic();
  }

  async #askManager({ kind, child }: FieldManagerConflict): Promise<string | undefined> {
    try {
      const present = await this.#options.client.get<KubeObject>(kind, child);
      return otherManagerOf(present, this.#options.definition.fieldManager);
    } catch (error) {
      if (!isApiError(error)) this.#options.log.debug("Cannot read the field managers of a child", { error });
      return undefined;
    }
  }

  #report(object: Stored<KubeObject>, reason: ProtectionReason, message: string): void {
    const { definition, events, host, log } = this.#options;
    log.warn("Slowed down a key", { object: storeKey(object.metadata), reason, message });
    events.record(object, definition.name, { type: "Warning", reason, message });
    host.metrics
      .counter("setpoint_protections_total", "Times that a protection has slowed down a key of a controller.")
      .add(1, { controller: definition.name, reason });
  }

  #count(): void {
    const { definition, host, keys } = this.#options;
    let count = 0;
    for (const { loop, fieldConflict: conflict } of keys()) if (conflict !== undefined || isSlow(loop)) count++;
    host.metrics
      .gauge("setpoint_slowed_keys", "Keys that a protection slows down.")
      .set(count, { controller: definition.name });
  }
}

function conflictMessage({ kind, child, manager }: FieldManagerConflict): string {
  const other = manager === undefined ? "another manager" : `"${manager}"`;
  return `Conflicting field managers: ${other} changes again and again what this controller applies to ${kind.kind} "${child.name}"; remove the fields from one of them`;
}
