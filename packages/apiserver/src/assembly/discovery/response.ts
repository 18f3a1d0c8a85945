/** Builders of responses that are not API objects. */
import { ApiError, type ApiResponse, failure } from "@setpoint/apimachinery";

export const jsonHeaders: Readonly<Record<string, string>> = { "content-type": "application/json" };

export function objectResponse(object: unknown, headers: Readonly<Record<string, string>> = jsonHeaders): ApiResponse {
  return { kind: "object", status: 200, headers, object };
}

/** Plain text, as of the health checks. */
export function textResponse(status: number, text: string): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { kind: "bytes", status, headers, bytes: chunks(new TextEncoder().encode(text)) };
}

/** An answer that consists of its headers. */
export function emptyResponse(status: number, headers: Readonly<Record<string, string>>): ApiResponse {
  return { kind: "bytes", status, headers, bytes: chunks() };
}

/** The 406 of discovery, which names what a real server would offer. */
export function notAcceptable(): ApiError {
  const message =
    "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
  return new ApiError(failure(406, "NotAcceptable", message));
}

async function* chunks(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
