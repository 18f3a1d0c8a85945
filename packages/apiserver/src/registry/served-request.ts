import type { ApiRequest, UserInfo } from "@setpoint/apimachinery";
import type { RequestAttributes } from "../request/request-attributes.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import type { Warnings } from "../response/warnings.ts";

/** A request for a resource of the table, on its way through the registry. */
export interface ServedRequest {
  readonly request: ApiRequest;
  readonly user: UserInfo;
  readonly attributes: RequestAttributes;
  readonly definition: ResourceDefinition;
  readonly warnings: Warnings;
  readonly signal: AbortSignal;
}
