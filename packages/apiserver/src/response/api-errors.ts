/** The errors that the registry returns, with the messages of apimachinery's api/errors. */
import {
  ApiError,
  apiVersionOf,
  failure,
  groupResource,
  type GroupVersionKind,
  type StatusDetails,
  messageOf,
} from "@setpoint/apimachinery";

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

function detailsOf(gr: GroupResource, name: string): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...(gr.group === "" ? {} : { group: gr.group }), kind: gr.resource };
}

export function badRequest(message: string): ApiError {
  return new ApiError(failure(400, "BadRequest", message));
}

export function notFound(gr: GroupResource, name: string): ApiError {
  const status = failure(404, "NotFound", `${groupResource(gr)} "${name}" not found`, detailsOf(gr, name));
  return new ApiError(status);
}

/** For a resource that is not served, within a group and version that is. */
export function unknownResource(): ApiError {
  return new ApiError(failure(404, "NotFound", "the server could not find the requested resource", {}));
}

export function methodNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return new ApiError(failure(405, "MethodNotAllowed", message, {}));
}

export function notAcceptable(accepted: readonly string[]): ApiError {
  const message = `only the following media types are accepted: ${accepted.join(", ")}`;
  return new ApiError(failure(406, "NotAcceptable", message));
}

export function alreadyExists(gr: GroupResource, name: string, prefix = "", suffix = ""): ApiError {
  const message = `${prefix}${groupResource(gr)} "${name}" already exists${suffix}`;
  return new ApiError(failure(409, "AlreadyExists", message, detailsOf(gr, name)));
}

export function conflict(gr: GroupResource, name: string, message: string): ApiError {
  const text = `Operation cannot be fulfilled on ${groupResource(gr)} "${name}": ${message}`;
  return new ApiError(failure(409, "Conflict", text, detailsOf(gr, name)));
}

export const modifiedMessage =
  "the object has been modified; please apply your changes to the latest version and try again";

export function expired(message: string, nextContinue?: string): ApiError {
  const status = failure(410, "Expired", message);
  return new ApiError(nextContinue === undefined ? status : { ...status, metadata: { continue: nextContinue } });
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const types = accepted.join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
  return new ApiError(failure(415, "UnsupportedMediaType", message));
}

/** The same of a built-in kind's PATCH, which upstream's router answers and not its decoder. */
export function unroutedMediaType(): ApiError {
  return new ApiError(failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {}));
}

/** A plain error of the storage or of a library, which upstream answers without a reason. */
export function plainError(message: string): ApiError {
  return new ApiError(failure(500, "", message));
}

export function internalError(message: string): ApiError {
  const text = `Internal error occurred: ${message}`;
  return new ApiError(failure(500, "InternalError", text, { causes: [{ message }] }));
}

export function resourceVersionTooLarge(wanted: number, current: number): ApiError {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new ApiError(failure(504, "Timeout", message, { causes, retryAfterSeconds: 1 }));
}

/** The objects of a kind cannot be shown at present; the client is to come back. */
export function initializing({ group, version, kind }: GroupVersionKind, error: unknown): ApiError {
  const why = messageOf(error);
  const listed = `failed to list ${apiVersionOf({ group, version })}, Kind=${kind}: ${why}`;
  const message = `storage is (re)initializing: ${listed}`;
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds: 1 }));
}
