/** The responses of faults, with kube-apiserver's messages. */
import { ApiError, failure, SetpointError, type StatusReason } from "@setpoint/apimachinery";
import { conflict, expired, modifiedMessage, resourceVersionTooLarge } from "../response/api-errors.ts";
import type { StruckRequest } from "./active-rule.ts";

/** The connection breaks in place of an answer. */
export function brokenConnection(): SetpointError {
  return new SetpointError("ERR_ANSWER_WITHHELD", "The connection was broken on purpose: a fault withholds the answer");
}

export function conflictAnswer({ info }: StruckRequest): ApiError {
  return conflict(info, info.name, modifiedMessage);
}

export function busyAnswer(retryAfterSeconds: number): ApiError {
  const message = "The server has received too many requests and has asked us to try again later";
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds }));
}

const reasons: Readonly<Record<number, readonly [StatusReason, string]>> = {
  500: ["InternalError", "Internal error occurred: injected by a fault"],
  502: ["", "bad gateway: injected by a fault"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
  504: ["Timeout", "Timeout: request did not complete within the allotted timeout"],
};

export function brokenAnswer(status: number): ApiError {
  const [reason, message] = reasons[status] ?? ["", `injected by a fault: ${status}`];
  return new ApiError(failure(status, reason, message));
}

export function quotaAnswer({ info }: StruckRequest): ApiError {
  const message = `${info.resource} ${JSON.stringify(info.name)} is forbidden: exceeded quota: injected by a fault`;
  return new ApiError(failure(403, "Forbidden", message, { name: info.name, group: info.group, kind: info.resource }));
}

export function goneAnswer({ request }: StruckRequest): ApiError {
  const asked = String(request.query?.["resourceVersion"] ?? "");
  return expired(`too old resource version: ${asked === "" ? "0" : asked} (injected by a fault)`);
}

export function tooLargeAnswer({ request }: StruckRequest): ApiError {
  const asked = Number(request.query?.["resourceVersion"] ?? 0);
  return resourceVersionTooLarge(asked, Math.max(0, asked - 1));
}
