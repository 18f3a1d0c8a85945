/** The Status object, with which the API answers errors and deletions, and `ApiError`, which carries one. */

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource for storage errors, the Kind for validation errors. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export type StatusReason =
  | ""
  | "BadRequest"
  | "Unauthorized"
  | "Forbidden"
  | "NotFound"
  | "MethodNotAllowed"
  | "NotAcceptable"
  | "AlreadyExists"
  | "Conflict"
  | "Expired"
  | "Gone"
  | "RequestEntityTooLarge"
  | "UnsupportedMediaType"
  | "Invalid"
  | "TooManyRequests"
  | "InternalError"
  | "ServerTimeout"
  | "ServiceUnavailable"
  | "Timeout";

const apiErrorBrand = "setpoint.dev/ApiError";

/** An answer of the API that is not a success. Told apart by `isNotFound`, `isConflict`, …, never by `instanceof`. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: Status;
  readonly code: number;
  readonly brand: string = apiErrorBrand;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? "the server gave no message", options);
    this.status = status;
    this.code = status.code ?? 500;
  }

  get reason(): StatusReason {
    return this.status.reason ?? "";
  }
}

export function isApiError(error: unknown): error is ApiError {
  return typeof error === "object" && error !== null && (error as { brand?: unknown }).brand === apiErrorBrand;
}

const hasReason =
  (...reasons: readonly StatusReason[]) =>
  (error: unknown): error is ApiError =>
    isApiError(error) && reasons.includes(error.reason);

type ErrorTest = (error: unknown) => error is ApiError;

export const isNotFound: ErrorTest = hasReason("NotFound");
export const isConflict: ErrorTest = hasReason("Conflict");
export const isAlreadyExists: ErrorTest = hasReason("AlreadyExists");
export const isForbidden: ErrorTest = hasReason("Forbidden");
export const isInvalid: ErrorTest = hasReason("Invalid");
export const isExpired: ErrorTest = hasReason("Expired", "Gone");
export const isTooManyRequests: ErrorTest = hasReason("TooManyRequests");

/** A failure Status with every required field; `details` is left out when nothing is known. */
export function failure(code: number, reason: StatusReason, message: string, details?: StatusDetails): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    // Plain errors of upstream have no reason, and its JSON leaves an empty one out.
    ...(reason === "" ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

export function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "Status";
}
