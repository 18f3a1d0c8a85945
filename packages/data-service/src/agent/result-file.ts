/** The result of a transfer, as the kubelet takes it from the termination log. */
import { writeFileSync } from "node:fs";
import { isTransferError, TransferError } from "../engine/transfer-error.ts";
import type { Conceal } from "./concealment.ts";
import type { AgentResult } from "./request.ts";

/** The kubelet cuts messages off here. */
const resultBytesMax = 4_096;
const messageLengthMax = 3_000;

/**
 * The failure that an error is. Errors of unknown kind keep only their name: their messages were not written
 * with secrets in mind.
 */
export function failureOf(error: unknown): Extract<AgentResult, { outcome: "failed" }> {
  const known = isTransferError(error)
    ? error
    : new TransferError(
        "InternalError",
        `Unexpected ${error instanceof Error ? error.name : typeof error}; see the pod's log.`,
      );
  return { outcome: "failed", reason: known.reason, message: known.message, retry: known.retry };
}

/** Writes the result without secrets, and shortens its message until it fits. */
export function writeResult(path: string, result: AgentResult, conceal: Conceal): void {
  writeFileSync(path, encodeResult(result, conceal));
}

export function encodeResult(result: AgentResult, conceal: Conceal): string {
  if (result.outcome === "done") return JSON.stringify(result);
  let message = conceal(result.message).slice(0, messageLengthMax);
  for (;;) {
    const text = JSON.stringify({ ...result, message });
    if (Buffer.byteLength(text) <= resultBytesMax) return text;
    message = `${message.slice(0, Math.floor(message.length / 2))} …`;
  }
}
