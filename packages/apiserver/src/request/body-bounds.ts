/** Rejects bodies with too many values or levels before they are processed. */
import { ApiError, failure } from "@setpoint/apimachinery";
import { badRequest } from "../response/api-errors.ts";
import {
  bodyCharactersMax,
  bodyLevelsMax,
  bodyValuesMax,
  type Excess,
  excessOf,
  excessOfJson,
} from "./value-bounds.ts";

/** Errors: `ApiError` 400 for too many levels, 413 for too many values. */
export function checkJsonBounds(bytes: Uint8Array): void {
  const excess = excessOfJson(bytes);
  if (excess !== undefined) throw refusalOf(excess);
}

/** The same for a decoded value. */
export function checkValueBounds(value: unknown): void {
  const excess = excessOf(value);
  if (excess !== undefined) throw refusalOf(excess);
}

export function refusalOf(excess: Excess): ApiError {
  if (excess === "levels")
    return badRequest(`error decoding the body: exceeded max depth: the limit is ${bodyLevelsMax} levels`);
  return tooLarge(excess === "values" ? `limit is ${bodyValuesMax} values` : `limit is ${bodyCharactersMax}`);
}

/** Upstream's message. */
export function tooLarge(why: string): ApiError {
  return new ApiError(failure(413, "RequestEntityTooLarge", `Request entity too large: ${why}`));
}
