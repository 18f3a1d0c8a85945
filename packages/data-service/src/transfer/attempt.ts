/** Decides about attempts of one transfer; pure. */
import type { AgentResult } from "../agent/request.ts";
import type { SeenTransfer } from "./observe-transfer.ts";
import { timestampAt } from "@setpoint/host";

/** What a status keeps of the attempts of one transfer. */
export interface AttemptState {
  /** The number of the attempt, from 1. */
  readonly attempt?: number | undefined;
  /** Set after an attempt that failed: when the next one begins. */
  readonly retryAt?: string | undefined;
  readonly transferUID?: string | undefined;
}

type Done = Extract<AgentResult, { outcome: "done" }>;
type Failed = Extract<AgentResult, { outcome: "failed" }>;

/** What happens next with a transfer. `state` is what the status must record before it happens. */
export type AttemptStep =
  | { readonly kind: "start"; readonly state: AttemptState; readonly attempt: number }
  | { readonly kind: "wait"; readonly state: AttemptState; readonly reason: string; readonly delayMs: number }
  | { readonly kind: "done"; readonly result: Done }
  | { readonly kind: "failed"; readonly result: Failed };

const retryMsFirst = 10_000;
const retryMsMax = 300_000;
/** A pod wakes the key by its changes; this is for changes that no watch shows. */
const runningCheckMs = 30_000;

/** The pod of an attempt. Its name follows from the status, so that a restarted operator finds it. */
export function transferName(owner: string, task: string, attempt: number | undefined): string {
  return `${owner}-${task}-${attempt ?? 1}`;
}

/** Decides from the recorded state and the pod of the current attempt. */
export function nextAttemptStep(
  state: AttemptState,
  seen: SeenTransfer,
  { attempts, nowMs }: { readonly attempts: number; readonly nowMs: number },
): AttemptStep {
  const { attempt = 1, retryAt } = state;
  if (retryAt !== undefined) return retryStep(state, attempt, Date.parse(retryAt) - nowMs);
  if (seen.state === "missing") return { kind: "start", state: { attempt }, attempt };
  if (seen.state === "running") {
    const does = seen.pendingSince === undefined ? "is running" : "is waiting for its pod to start";
    const reason = `attempt ${attempt} of ${attempts} ${does}${seen.reason}`;
    return { kind: "wait", state: { attempt, transferUID: seen.uid }, reason, delayMs: runningCheckMs };
  }
  const { result } = seen;
  if (result.outcome === "done") return { kind: "done", result };
  if (!result.retry || attempt >= attempts) return { kind: "failed", result };
  return retryLater(attempt, attempts, result, nowMs);
}

/** The pause after an attempt that failed. */
export function retryLater(attempt: number, attempts: number, result: Failed, nowMs: number): AttemptStep {
  const delayMs = Math.min(retryMsFirst * 2 ** (attempt - 1), retryMsMax);
  const reason = `attempt ${attempt} of ${attempts} failed (${result.reason}: ${result.message}); the next begins in ${delayMs / 1_000} s`;
  return { kind: "wait", state: { attempt, retryAt: timestampAt(nowMs + delayMs) }, reason, delayMs };
}

function retryStep(state: AttemptState, attempt: number, leftMs: number): AttemptStep {
  if (leftMs <= 0) return { kind: "start", state: { attempt: attempt + 1 }, attempt: attempt + 1 };
  return { kind: "wait", state, reason: "", delayMs: leftMs };
}
