/**
 * Validation that the API server does itself: CEL about whole requests, without a webhook that could be away.
 */
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "@setpoint/api";
import { type KubeObject, SetpointError } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { StructuralSchema, ValidationRule } from "@setpoint/schema";
import { CelEnvironment } from "@setpoint/schema/cel";

/** The operations that a ValidatingAdmissionPolicy checks, and what it does on a violation. */
export interface AdmissionPolicyOptions {
  /** Default: the kind's plural and group. */
  readonly name?: string;
  /** Default: new and changed objects. */
  readonly operations?: readonly ("CREATE" | "UPDATE" | "DELETE")[];
  /** `Deny` refuses, `Warn` tells the user, `Audit` only writes it down; default Deny. */
  readonly actions?: readonly ("Deny" | "Warn" | "Audit")[];
  /** Expressions that rules can name as `variables.NAME`. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Made by `admissionPolicy`. */
export interface AdmissionPolicy {
  readonly name: string;
  /** The policy and its binding. */
  manifests(): readonly KubeObject[];
}

/** What all expressions about one request may cost together, as in Kubernetes. */
const costMax = 10_000_000;

/**
 * A policy of rules over `object`, `oldObject` and `request`:
 * `admissionPolicy(PodSet, [rule("object.spec.replicas <= 100", "at most 100")])`. Rules are checked against
 * the kind's schema here.
 *
 * Errors: `ERR_RULE_INVALID`.
 */
export function admissionPolicy(
  kind: KindRef,
  rules: readonly ValidationRule[],
  options: AdmissionPolicyOptions = {},
): AdmissionPolicy {
  const { name = `${kind.plural}.${kind.group === "" ? "core" : kind.group}` } = options;
  checkRules(name, kind, rules, options.variables ?? {});
  return { name, manifests: () => manifestsOf(name, kind, rules, options) };
}

function checkRules(
  name: string,
  kind: KindRef,
  rules: readonly ValidationRule[],
  variables: Readonly<Record<string, string>>,
): void {
  const object = "schema" in kind ? withMetadata(kind.schema as StructuralSchema) : "dyn";
  const environment = new CelEnvironment({ variables: { object, oldObject: object, request: "dyn" }, costMax });
  const problems: string[] = [];
  for (const [variable, source] of Object.entries(variables)) {
    const problem = environment.define(variable, source);
    if (problem !== undefined) problems.push(`variable ${variable}: ${problem}`);
  }
  for (const [index, { rule }] of rules.entries()) {
    const compiled = environment.compile(rule);
    if (typeof compiled === "string") problems.push(`rule [${index}]: ${compiled}`);
    else if (compiled.type !== "bool" && compiled.type !== "dyn")
      problems.push(`rule [${index}]: it is of type ${compiled.type}, expected bool`);
  }
  if (problems.length === 0) return;
  throw new SetpointError("ERR_RULE_INVALID", `Cannot define policy "${name}": ${problems.join("; ")}`);
}

/** Policies see all of an object's metadata, rules of a CRD only its name. */
function withMetadata(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: "string" };
  const texts: StructuralSchema = { type: "object", additionalProperties: text };
  const properties = {
    name: text,
    generateName: text,
    namespace: text,
    uid: text,
    labels: texts,
    annotations: texts,
    finalizers: { type: "array", items: text },
    generation: { type: "integer" },
    deletionTimestamp: { type: "string", format: "date-time" },
    creationTimestamp: { type: "string", format: "date-time" },
  } as const;
  return { ...schema, properties: { ...schema.properties, metadata: { type: "object", properties } } };
}

function manifestsOf(
  name: string,
  { group, version, plural }: KindRef,
  rules: readonly ValidationRule[],
  { operations = ["CREATE", "UPDATE"], actions = ["Deny"], variables = {} }: AdmissionPolicyOptions,
): readonly KubeObject[] {
  const validations = rules.map(({ rule, message, messageExpression, reason }) => ({
    expression: rule,
    ...(message === undefined ? {} : { message }),
    ...(messageExpression === undefined ? {} : { messageExpression }),
    ...(reason === undefined ? {} : { reason: policyReasons[reason] }),
  }));
  const named = Object.entries(variables).map(([variable, expression]) => ({ name: variable, expression }));
  return [
    ValidatingAdmissionPolicy({
      name,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [{ apiGroups: [group], apiVersions: [version], resources: [plural], operations }],
        },
        ...(named.length === 0 ? {} : { variables: named }),
        validations,
      },
    }),
    ValidatingAdmissionPolicyBinding({ name, spec: { policyName: name, validationActions: actions } }),
  ];
}

/** Policies know reasons of answers, rules of a CRD those of fields. */
const policyReasons: Readonly<Record<NonNullable<ValidationRule["reason"]>, string>> = {
  FieldValueInvalid: "Invalid",
  FieldValueForbidden: "Forbidden",
  FieldValueRequired: "Invalid",
  FieldValueDuplicate: "Invalid",
};
