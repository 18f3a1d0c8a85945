import type { AuthorizationDecision, Authorizer, RequestAttributes } from "../request/request-attributes.ts";

/**
 * Allows what one of them allows; a refusal gives the reasons of all, a line each, as upstream's union does.
 */
export function unionAuthorizer(...authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize(attributes: RequestAttributes): AuthorizationDecision {
      const reasons: string[] = [];
      for (const authorizer of authorizers) {
        const decision = authorizer.authorize(attributes);
        if (decision.allowed) return decision;
        if (decision.reason !== undefined && decision.reason !== "") reasons.push(decision.reason);
      }
      return reasons.length === 0 ? { allowed: false } : { allowed: false, reason: reasons.join("\n") };
    },
  };
}
