/** Decides what becomes of an operation; pure. */
import type { Operation } from "../kinds/operation.ts";
import { type MaintenanceWindow, windowRefusal, windowState } from "./maintenance-window.ts";

/** What an engine reports after each of its steps. */
export type OperationReport =
  | { readonly state: "running"; readonly message: string; readonly progress?: string; readonly recheckMs: number }
  | { readonly state: "done"; readonly message: string }
  | { readonly state: "failed"; readonly reason: string; readonly message: string }
  /** Only before the first step. */
  | { readonly state: "rejected"; readonly reason: string; readonly message: string };

export type Phase = NonNullable<Operation["status"]>["phase"];

/** Everything that decides about an operation. */
export interface SeenOperation {
  readonly spec: Operation["spec"];
  readonly status: Operation["status"];
  readonly instance: { readonly uid: string; readonly windows: readonly MaintenanceWindow[] } | undefined;
  readonly isSupported: boolean;
  readonly isDisruptive: boolean;
  /** The operation of the same instance that comes first and has not ended. */
  readonly before: string | undefined;
}

export type OperationStep =
  /** Nothing is done: it has ended, and is deleted after its time. */
  | { readonly kind: "ended"; readonly deleteInMs: number | undefined }
  | { readonly kind: "end"; readonly phase: Phase; readonly reason: string; readonly message: string }
  | { readonly kind: "wait"; readonly reason: string; readonly message: string; readonly delayMs: number }
  /** Records that it has begun, and asks the engine for its first step. */
  | { readonly kind: "begin" }
  | { readonly kind: "advance" }
  | { readonly kind: "cancel" };

const waitMs = 60_000;
/** How soon a queued operation sees that the one before it has ended. */
const queueMs = 5_000;

export function isEnded(phase: Phase | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed" || phase === "Rejected";
}

export function planOperation(seen: SeenOperation, nowMs: number): OperationStep {
  const { status } = seen;
  if (isEnded(status?.phase)) return ended(seen, nowMs);
  return status?.phase === "InProgress" ? planRunning(seen, nowMs) : planPending(seen, nowMs);
}

function ended({ spec, status }: SeenOperation, nowMs: number): OperationStep {
  const { ttlSecondsAfterFinished: ttl } = spec;
  if (ttl === undefined || status?.finishedAt === undefined) return { kind: "ended", deleteInMs: undefined };
  return { kind: "ended", deleteInMs: Math.max(0, Date.parse(status.finishedAt) + ttl * 1_000 - nowMs) };
}

function planPending(
  { spec, instance, isSupported, isDisruptive, before }: SeenOperation,
  nowMs: number,
): OperationStep {
  const { kind, name } = spec.instance;
  if (spec.cancel) return end("Rejected", "Cancelled", "It was cancelled before it began");
  if (!isSupported) return end("Rejected", "Unsupported", `${kind} has no operation ${spec.type}`);
  if (instance === undefined) return end("Rejected", "InstanceMissing", `${kind} "${name}" does not exist`);
  if (before !== undefined)
    return { kind: "wait", reason: "Queued", message: `Waiting for Operation "${before}"`, delayMs: queueMs };
  if (!isDisruptive || spec.ignoreWindows) return { kind: "begin" };
  return windowWait(instance.windows, nowMs) ?? { kind: "begin" };
}

/** Why an operation that interrupts clients may not begin now; undefined when it may. */
export function windowWait(
  windows: readonly MaintenanceWindow[],
  nowMs: number,
): Extract<OperationStep, { kind: "wait" }> | undefined {
  const refusal = windowRefusal(windows);
  if (refusal !== undefined) return { kind: "wait", reason: "WindowInvalid", message: refusal, delayMs: waitMs };
  const { open, untilMs } = windowState(windows, nowMs);
  if (open) return undefined;
  const delayMs = untilMs === undefined ? waitMs : untilMs - nowMs;
  const opens = untilMs === undefined ? "" : `, which opens at ${new Date(untilMs).toISOString()}`;
  return { kind: "wait", reason: "OutsideWindow", message: `Waiting for a maintenance window${opens}`, delayMs };
}

function planRunning({ spec, status, instance }: SeenOperation, nowMs: number): OperationStep {
  const { kind, name } = spec.instance;
  if (instance?.uid !== status?.instanceUID)
    return end("Failed", "InstanceMissing", `${kind} "${name}" was deleted meanwhile`);
  if (spec.cancel) return { kind: "cancel" };
  const startedMs = Date.parse(status?.startedAt ?? "");
  if (nowMs - startedMs > spec.deadlineSeconds * 1_000)
    return end(
      "Failed",
      "DeadlineExceeded",
      `It has not ended within ${spec.deadlineSeconds} s: ${status?.message ?? ""}`,
    );
  return { kind: "advance" };
}

function end(phase: Phase, reason: string, message: string): OperationStep {
  return { kind: "end", phase, reason, message };
}
