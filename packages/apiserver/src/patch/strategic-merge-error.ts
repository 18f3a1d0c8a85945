/** Errors of strategic merge patches, with upstream's texts and codes. */
import { encodeJson, ApiError, failure, isJsonInteger, isJsonObject, type JsonObject } from "@setpoint/apimachinery";

/** A patch whose directives are malformed: 400. */
export function malformedPatch(what: string): ApiError {
  return new ApiError(failure(400, "BadRequest", what));
}

/** A patch that cannot be applied: 422 with the text that the API gives for every such patch. */
export function unprocessablePatch(cause: string): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return new ApiError(failure(422, "Invalid", message, {}), { cause: new Error(cause) });
}

/** An error that upstream does not type: 500 with an empty reason. */
export function untypedPatchError(message: string): ApiError {
  return new ApiError(failure(500, "", message));
}

export function missingMergeKey(item: JsonObject, key: string): ApiError {
  return untypedPatchError(`map: ${formatGo(item)} does not contain declared merge key: ${key}`);
}

export function unknownDirective(directive: unknown, map: JsonObject): ApiError {
  return untypedPatchError(`unknown patch type: ${String(directive)} in map: ${formatGo(map)}`);
}

export function wrongType(wanted: "map" | "list", received: unknown): ApiError {
  const name = wanted === "map" ? "map[string]interface {}" : "[]interface {}";
  return untypedPatchError(`expected a ${name}, but received a ${goTypeOf(received)}`);
}

function goTypeOf(value: unknown): string {
  if (value === null) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return isJsonInteger(value) ? "int64" : "float64";
}

/** A JSON value as Go's `%v` prints it: `map[name:web ports:[80 81]]`, keys sorted. */
export function formatGo(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(formatGo).join(" ")}]`;
  if (!isJsonObject(value)) return typeof value === "string" ? value : encodeJson(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${formatGo(value[key])}`).join(" ")}]`;
}
