/**
 * What validating and mutating policies have in common: the requests that they match, their parameters and
 * conditions.
 */
import { labelSelectorOf, type UnstructuredObject } from "@setpoint/apimachinery";
import type { CelEvaluation } from "@setpoint/schema/cel";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { Authorizer } from "../request/request-attributes.ts";
import type { Registry } from "../registry/registry.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { BindingSpec, MatchResources } from "../registry/admissionregistration/policy-spec.ts";
import type { BoundPolicy, Compiled, CompiledPolicy } from "./admission-policies.ts";
import { requestFields } from "./admission-review.ts";
import { requestAuthorizer } from "./request-authorizer.ts";
import { type Equivalents, matchRequest } from "./match-request.ts";

export interface PolicyAdmissionParts {
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly equivalents: Equivalents;
}

const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*", "*/*"] }];

/** The definition of the version in which the policy gets the objects; undefined when it does not match. */
export function wantedDefinition(
  { policy, binding }: BoundPolicy,
  request: AdmissionRequest,
  equivalents: Equivalents,
): ResourceDefinition | undefined {
  const match = (resources: MatchResources): ResourceDefinition | undefined => {
    const { resourceRules = [], excludeResourceRules = [] } = resources;
    // A binding without rules narrows by its selectors alone.
    const rules = resourceRules.length === 0 ? everything : resourceRules;
    return matchRequest({ ...resources, rules, excluded: excludeResourceRules }, request, equivalents);
  };
  const { matchConstraints } = policy.spec;
  const { matchResources } = binding.spec;
  if (matchConstraints === undefined) return undefined;
  if (matchResources !== undefined && match(matchResources) === undefined) return undefined;
  return match(matchConstraints);
}

/** What the expressions of a policy see of a request. */
export function evaluationOf(
  policy: CompiledPolicy,
  request: AdmissionRequest,
  params: UnstructuredObject | undefined,
  { authorizer }: PolicyAdmissionParts,
): CelEvaluation {
  const { object, old, namespace, reader, definition } = request;
  const namespaceObject =
    namespace === "" || !definition.namespaced ? undefined : reader.get("", "namespaces", "", namespace);
  const values = { object, oldObject: old, request: requestFields(request, ""), namespaceObject, params };
  return policy.environment.evaluate(values, requestAuthorizer(authorizer, request));
}

export type Params = readonly (UnstructuredObject | undefined)[];

/** The parameters to try one after the other, or why there are none although there have to be. */
export function paramsOf(
  { spec }: CompiledPolicy,
  { paramRef }: BindingSpec,
  request: AdmissionRequest,
  { registry }: PolicyAdmissionParts,
): Params | string {
  const { paramKind } = spec;
  if (paramKind === undefined || paramRef === undefined) return [undefined];
  const definition = registry.definitions.find(
    ({ group, version, kind }) =>
      kind === paramKind.kind && (group === "" ? version : `${group}/${version}`) === paramKind.apiVersion,
  );
  if (definition === undefined)
    return `failed to find resource referenced by paramKind: '${paramKind.apiVersion ?? ""}, Kind=${paramKind.kind ?? ""}'`;
  const { group, resource, namespaced } = definition;
  const namespace = namespaced ? (paramRef.namespace ?? request.namespace) : "";
  const { name, selector } = paramRef;
  const one = name === undefined ? undefined : request.reader.get(group, resource, namespace, name);
  const matching = (): Params => {
    const wanted = labelSelectorOf(selector ?? {});
    return request.reader
      .list(group, resource, namespace)
      .filter(({ metadata }) => wanted.matches(metadata.labels ?? {}));
  };
  const found = name === undefined ? matching() : one === undefined ? [] : [one];
  if (found.length > 0 || paramRef.parameterNotFoundAction === "Allow") return found;
  return "no params found for policy binding with `Deny` parameterNotFoundAction";
}

export function run(evaluation: CelEvaluation, expression: Compiled): ReturnType<CelEvaluation["run"]> {
  return typeof expression === "string" ? { error: expression } : evaluation.run(expression);
}

/** A false condition takes precedence over one that cannot be evaluated. */
export function unmetConditions(
  { conditions }: CompiledPolicy,
  evaluation: CelEvaluation,
): "met" | "unmet" | readonly string[] {
  const errors: string[] = [];
  for (const { source, expression } of conditions) {
    const result = run(evaluation, expression);
    if ("error" in result) errors.push(`expression '${source}' resulted in error: ${result.error}`);
    else if (result.value !== true) return "unmet";
  }
  return errors.length === 0 ? "met" : errors;
}
