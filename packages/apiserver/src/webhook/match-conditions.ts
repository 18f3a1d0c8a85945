/** CEL conditions that a request must fulfil before a webhook or a policy is asked. */
import type { StructuralSchema } from "@setpoint/schema";
import { type CelAuthorizer, CelEnvironment, type CelExpression } from "@setpoint/schema/cel";
import type { AdmissionRequest } from "../admission/admission-plugin.ts";
import { requestFields } from "./admission-review.ts";
import type { MatchCondition } from "./webhook-configuration.ts";

const text: StructuralSchema = { type: "string" };
const textFields = (...names: readonly string[]): StructuralSchema => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, text])),
});
const texts: StructuralSchema = { type: "array", items: text };

/** `request` as expressions see it: the review's request without its objects. */
export const requestSchema: StructuralSchema = {
  type: "object",
  properties: {
    kind: textFields("group", "version", "kind"),
    resource: textFields("group", "version", "resource"),
    subResource: text,
    requestKind: textFields("group", "version", "kind"),
    requestResource: textFields("group", "version", "resource"),
    requestSubResource: text,
    name: text,
    namespace: text,
    operation: text,
    userInfo: {
      type: "object",
      properties: { username: text, uid: text, groups: texts, extra: { type: "object", additionalProperties: texts } },
    },
    dryRun: { type: "boolean" },
  },
};

/** What all conditions of one webhook may cost together. */
const conditionsCostMax = 2_500_000;

interface Condition {
  readonly expression: CelExpression | string;
  readonly source: string;
}

export interface MatchConditions {
  /** Whether all hold. Throws when one cannot be evaluated and no other is false. */
  hold(request: AdmissionRequest, authorizer: CelAuthorizer): boolean;
}

export function conditionsEnvironment(): CelEnvironment {
  const variables = { object: "dyn", oldObject: "dyn", request: requestSchema } as const;
  return new CelEnvironment({ variables, costMax: conditionsCostMax, authorizes: true });
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
