/**
 * Validation errors of a field, with Kubernetes' messages (apimachinery's field.Error), and their place in a
 * Status.
 */
import { ApiError, failure, type StatusCause } from "./status.ts";

/** The `reason` of a cause in an Invalid status. */
export type FieldErrorType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "InternalError";

/** `message` is the text after the path, complete: `Required value`, `Invalid value: 7: must be odd`. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly message: string;
}

/**
 * A 422 for an object: `Widget.example.com "w1" is invalid: [spec.a: Required value, …]`; equal errors are
 * named once.
 */
export function invalid(
  gk: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const kind = gk.group === "" ? gk.kind : `${gk.kind}.${gk.group}`;
  const causes: StatusCause[] = errors.map(({ type, field, message }) => ({ reason: type, message, field }));
  const details = {
    ...(name === "" ? {} : { name }),
    ...(gk.group === "" ? {} : { group: gk.group }),
    kind: gk.kind,
    causes,
  };
  return new ApiError(failure(422, "Invalid", `${kind} "${name}" is invalid: ${list}`, details));
}
