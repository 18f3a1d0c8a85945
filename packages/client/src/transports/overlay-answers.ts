/** Answers that a plan gives itself. */
import { failure, type ApiResponse, type Status } from "@setpoint/apimachinery";
import type { ObjectPlace } from "./pretended-objects.ts";

export const success: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };

export function answer(status: number, object: unknown): ApiResponse {
  return { kind: "object", status, headers: {}, object };
}

export function refuse(code: 400 | 405 | 415, message: string): ApiResponse {
  const reasons = { 400: "BadRequest", 405: "MethodNotAllowed", 415: "UnsupportedMediaType" } as const;
  return answer(code, failure(code, reasons[code], message));
}

export function notFound(resource: string, name: string): ApiResponse {
  return answer(404, failure(404, "NotFound", `${resource} "${name}" not found`, { name, kind: resource }));
}

export function alreadyExists({ resource, name }: ObjectPlace): ApiResponse {
  return answer(409, failure(409, "AlreadyExists", `${resource} "${name}" already exists`, { name, kind: resource }));
}

/** Not a 429, which means "later": later there are no fewer. */
export function tooMany(writesMax: number): ApiResponse {
  const message = `the plan has ${writesMax} writes already, more than it may have`;
  return answer(403, failure(403, "Forbidden", message));
}
