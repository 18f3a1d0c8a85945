/** CEL conditions that a request must match before the server calls a webhook or evaluates a policy. */
import type { CelAuthorizer, CelEnvironment, CelExpression } from "@setpoint/schema/cel";
import { conditionsEnvironment } from "../registry/admissionregistration/expression-environment.ts";
import type { MatchCondition } from "../registry/admissionregistration/webhook-configuration.ts";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import { requestFields } from "./admission-review.ts";

interface Condition {
  readonly expression: CelExpression | string;
  readonly source: string;
}

export interface MatchConditions {
  /** Whether all hold. Throws when one cannot be evaluated and no other is false. */
  hold(request: AdmissionRequest, authorizer: CelAuthorizer): boolean;
}

export function compileConditions(conditions: readonly MatchCondition[] = []): MatchConditions | undefined {
  if (conditions.length === 0) return undefined;
  const environment = conditionsEnvironment();
  const compiled = conditions.map(({ expression }) => ({
    source: expression,
    expression: environment.compile(expression),
  }));
  return { hold: (request, authorizer) => allHold(environment, compiled, request, authorizer) };
}

function allHold(
  environment: CelEnvironment,
  conditions: readonly Condition[],
  request: AdmissionRequest,
  authorizer: CelAuthorizer,
): boolean {
  const { object, old } = request;
  const evaluation = environment.evaluate({ object, oldObject: old, request: requestFields(request, "") }, authorizer);
  const errors: string[] = [];
  for (const { expression, source } of conditions) {
    const result = typeof expression === "string" ? { error: expression } : evaluation.run(expression);
    if ("error" in result) errors.push(`expression '${source}' resulted in error: ${result.error}`);
    else if (result.value !== true) return false;
  }
  if (errors.length > 0) throw new Error(errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`);
  return true;
}
