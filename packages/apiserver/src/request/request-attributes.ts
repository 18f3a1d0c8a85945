import type { UserInfo } from "@setpoint/apimachinery";

/** What a request asks for, as the authorizer and admission see it (RequestInfo of upstream). */
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
  /** Of a list or watch, as it is asked; absent when there is none. */
  readonly fieldSelector?: string;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  /** Appended to the 403's message after `: ` when not empty. */
  readonly reason?: string;
}

export interface Authorizer {
  authorize(attributes: RequestAttributes): AuthorizationDecision;
}
