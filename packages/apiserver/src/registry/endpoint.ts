import type { ApiRequest, ApiResponse } from "@setpoint/apimachinery";
import type { RequestAttributes } from "../request/request-attributes.ts";

/**
 * Answers requests that are not storage operations: reviews, tokens, bindings, logs by proxy, non-resource
 * paths. `body` is the decoded JSON object (from JSON, YAML or protobuf), undefined when the request had
 * none.
 */
export type Endpoint = (request: EndpointRequest) => Promise<ApiResponse>;

/**
 * An authorized request for an endpoint outside of the generic resource handlers. Its body is parsed, not
 * validated.
 */
export interface EndpointRequest {
  readonly request: ApiRequest;
  readonly attributes: RequestAttributes;
  readonly body: Record<string, unknown> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Endpoints by what they serve: `"POST authentication.k8s.io/v1/tokenreviews"`, `"POST
 * v1/serviceaccounts/token"`, `"GET v1/pods/log"` for resources and subresources, `"GET /version"` for
 * non-resource paths. The registry consults this table first, after authorization.
 */
export type EndpointTable = ReadonlyMap<string, Endpoint>;
