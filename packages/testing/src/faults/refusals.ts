/** Answers of an API server that has a bad day, in its own words. */
import { type ApiResponse, failure, type Status } from "@setpoint/apimachinery";

const retryAfterSeconds = 1;

export function refusal(status: Status, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return { kind: "object", status: status.code ?? 500, headers, object: status };
}

export function conflictAnswer(what: string): ApiResponse {
  const message = `Operation cannot be fulfilled on ${what}: the object has been modified; please apply your changes to the latest version and try again`;
  return refusal(failure(409, "Conflict", message));
}

export function busyAnswer(code: 429 | 500 | 503): ApiResponse {
  if (code === 500)
    return refusal(failure(500, "InternalError", "Internal error occurred: etcdserver: leader changed"));
  const reason = code === 429 ? "TooManyRequests" : "ServiceUnavailable";
  const message = code === 429 ? "Too many requests, please try again later" : "apiserver is shutting down";
  return refusal(failure(code, reason, message, { retryAfterSeconds }), { "retry-after": String(retryAfterSeconds) });
}

export function quotaAnswer(what: string): ApiResponse {
  const message = `${what} is forbidden: exceeded quota: simulated, requested: count=1, used: count=0, limited: count=0`;
  return refusal(failure(403, "Forbidden", message));
}

export function expiredAnswer(): ApiResponse {
  return refusal(failure(410, "Expired", "too old resource version: the history before it is gone"));
}

export function tooLargeVersionAnswer(): ApiResponse {
  const message = "Timeout: Too large resource version";
  return refusal(
    failure(504, "Timeout", message, {
      retryAfterSeconds,
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    }),
  );
}
