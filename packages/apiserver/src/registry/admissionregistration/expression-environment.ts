/** The variables and cost limits of CEL expressions in webhook configurations and admission policies. */
import type { StructuralSchema } from "@setpoint/schema";
import { CelEnvironment } from "@setpoint/schema/cel";
import type { PolicySpec } from "./policy-spec.ts";

const text: StructuralSchema = { type: "string" };
const textFields = (...names: readonly string[]): StructuralSchema => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, text])),
});
const texts: StructuralSchema = { type: "array", items: text };

/** `request` as expressions see it: the review's request without its objects. */
const requestSchema: StructuralSchema = {
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

export function conditionsEnvironment(): CelEnvironment {
  const variables = { object: "dyn", oldObject: "dyn", request: requestSchema } as const;
  return new CelEnvironment({ variables, costMax: conditionsCostMax, authorizes: true });
}

/** What all expressions of one policy may cost for one request. */
const policyCostMax = 10_000_000;

/**
 * The environment of a policy's expressions, with its variables; `onIssue` hears what is wrong with these.
 */
export function policyEnvironment(
  { variables = [], paramKind, mutations }: PolicySpec,
  onIssue: (index: number, source: string, issue: string) => void = () => {},
): CelEnvironment {
  const params = paramKind === undefined ? {} : ({ params: "dyn" } as const);
  const environment = new CelEnvironment({
    variables: { object: "dyn", oldObject: "dyn", request: requestSchema, namespaceObject: "dyn", ...params },
    costMax: policyCostMax,
    authorizes: true,
    mutates: mutations !== undefined,
  });
  for (const [index, { name, expression }] of variables.entries()) {
    const issue = environment.define(name, expression);
    if (issue !== undefined) onIssue(index, expression, issue);
  }
  return environment;
}
