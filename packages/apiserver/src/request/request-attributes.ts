import type { UserInfo } from "@setpoint/apimachinery";

/** The attributes of a request, as the authorizer and admission see it (RequestInfo of upstream). */
export interface RequestAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  /** The whole path, for non-resource requests. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The selector of a list or watch, as the request has it; absent when there is none. */
  readonly fieldSelector?: string;
}

/** An authorizer's decision; a request that it denies gets a 403. */
export interface AuthorizationDecision {
  readonly allowed: boolean;
  /** Appended to the 403's message after `: ` when not empty. */
  readonly reason?: string;
}

/**
 * Decides on a request by its user, verb and path. The server asks it for every request, so it must be fast.
 */
export interface Authorizer {
  authorize(attributes: RequestAttributes): AuthorizationDecision;
}
