/**
 * The error for a patch whose result is not an object of its kind; upstream's message, which quotes the
 * result.
 */
import { encodeJson, ApiError, failure, isJsonObject } from "@setpoint/apimachinery";

/** What is shown: the patch itself when it was merged into typed fields, the patched object otherwise. */
export type PatchSubject =
  | { readonly kind: "strategic"; readonly patch: unknown }
  | { readonly kind: "patched"; readonly object: unknown; readonly sorted: boolean };

export function invalidPatch(subject: PatchSubject, why: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(textOf(subject))}: ${why}`;
  const causes = [{ reason: "FieldValueInvalid", message, field: "patch" }];
  // Upstream names neither kind nor object here.
  return new ApiError(failure(422, "Invalid", ` "" is invalid: patch: ${message}`, { causes }));
}

function textOf(subject: PatchSubject): string {
  if (subject.kind === "strategic") return goText(subject.patch);
  return encodeJson(subject.sorted ? sorted(subject.object) : subject.object);
}

/** A value as Go's `%v` prints it. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  const fields = Object.keys(value).toSorted();
  return `map[${fields.map((field) => `${field}:${goText(value[field])}`).join(" ")}]`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const fields = Object.keys(value).toSorted();
  return Object.fromEntries(fields.map((field) => [field, sorted(value[field])]));
}
