/** The Status object, with which the API answers errors and deletions, and `ApiError`, which carries one. */

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The machine-readable part of a Status: the object, the invalid fields, and when to retry, in seconds. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource for storage errors, the Kind for validation errors. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The body of the API server's error responses (meta/v1 Status), and of deletions that return no object. */
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

/** The reasons of meta/v1 StatusReason. `""` means that upstream gives none. */
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

/**
 * An error response of the API. Callers distinguish it by `isNotFound`, `isConflict`, …, never by
 * `instanceof`.
 */
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

/**
 * Whether a value is an error response of the API server. It reads a brand, so it also recognises errors of
 * another copy of this package.
 */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === "object" && error !== null && (error as { brand?: unknown }).brand === apiErrorBrand;
}

const hasReason =
  (...reasons: readonly StatusReason[]) =>
  (error: unknown): error is ApiError =>
    isApiError(error) && reasons.includes(error.reason);

type ErrorTest = (error: unknown) => error is ApiError;

/** 404: the object or the resource does not exist. */
export const isNotFound: ErrorTest = hasReason("NotFound");
/** 409: the resourceVersion or another precondition of the write is outdated, or field managers conflict. */
export const isConflict: ErrorTest = hasReason("Conflict");
/** 409 of a create: an object of this name exists. */
export const isAlreadyExists: ErrorTest = hasReason("AlreadyExists");
/** 403: authorization or admission denies the request. */
export const isForbidden: ErrorTest = hasReason("Forbidden");
/** 422: validation rejects the object; `status.details.causes` lists the fields. */
export const isInvalid: ErrorTest = hasReason("Invalid");
/** 410: the revision of a watch or the token of a list is too old; the client must relist. */
export const isExpired: ErrorTest = hasReason("Expired", "Gone");
/** 429: the server limits requests, or a disruption budget denies an eviction. */
export const isTooManyRequests: ErrorTest = hasReason("TooManyRequests");

/** What etcd answers to an object beyond its limit; the API server passes it on as a 500 without a reason. */
const storeLimit = "etcdserver: request is too large";

/** 413, or a 500 of the store: the object is too large, so that sending it again is useless. */
export const isTooLarge: ErrorTest = (error): error is ApiError =>
  isApiError(error) && (error.reason === "RequestEntityTooLarge" || error.message.includes(storeLimit));

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

/** Whether a response's object is a Status, by its kind; the other fields are not checked. */
export function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "Status";
}
