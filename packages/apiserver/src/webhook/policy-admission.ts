/** Admission by ValidatingAdmissionPolicies. Nobody has to be asked, so it is decided at once. */
import {
  ApiError,
  labelSelectorOf,
  failure,
  groupResource,
  type StatusReason,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { CelEvaluation } from "@setpoint/schema/cel";
import type { AdmissionPlugin, AdmissionRequest } from "../admission/admission-plugin.ts";
import type { Registry } from "../registry/registry.ts";
import type {
  BindingSpec,
  BoundPolicy,
  Compiled,
  CompiledPolicy,
  MatchResources,
  PolicyList,
} from "./admission-policies.ts";
import { requestFields } from "./admission-review.ts";
import { type Equivalents, matchRequest } from "./match-request.ts";
import { isExempt } from "./resource-rules.ts";

export interface PolicyAdmissionParts {
  readonly registry: Registry;
  readonly equivalents: Equivalents;
}

export function validatingPolicies(list: PolicyList, parts: PolicyAdmissionParts): AdmissionPlugin {
  return {
    name: "ValidatingAdmissionPolicy",
    validate(request) {
      if (list.bound.length === 0 || isExempt(request)) return;
      for (const bound of list.bound) if (isMeant(bound, request, parts.equivalents)) decide(bound, request, parts);
    },
  };
}

function isMeant({ policy, binding }: BoundPolicy, request: AdmissionRequest, equivalents: Equivalents): boolean {
  const meant = (match: MatchResources | undefined): boolean => {
    if (match === undefined) return true;
    const { resourceRules, excludeResourceRules = [] } = match;
    const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*", "*/*"] }];
    // A binding without rules narrows by its selectors alone.
    const rules = resourceRules === undefined || resourceRules.length === 0 ? everything : resourceRules;
    return matchRequest({ ...match, rules, excluded: excludeResourceRules }, request, equivalents) !== undefined;
  };
  return (
    policy.spec.matchConstraints !== undefined &&
    meant(policy.spec.matchConstraints) &&
    meant(binding.spec.matchResources)
  );
}

interface Problem {
  readonly message: string;
  readonly reason: StatusReason;
}

function decide(bound: BoundPolicy, request: AdmissionRequest, parts: PolicyAdmissionParts): void {
  const { policy, binding } = bound;
  const found = paramsOf(policy, binding.spec, request, parts);
  const problems: readonly Problem[] =
    typeof found === "string"
      ? [{ message: `failed to configure binding: ${found}`, reason: "Invalid" }]
      : found.flatMap((params) => problemsOf(policy, request, params));
  if (problems.length > 0) report(bound, request, problems);
}

function report({ policy, binding }: BoundPolicy, request: AdmissionRequest, problems: readonly Problem[]): void {
  const { validationActions = [] } = binding.spec;
  const named = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
  if (validationActions.includes("Warn")) {
    for (const { message } of problems) request.warn(`Validation failed for ${named}: ${message}`);
  }
  const [first] = problems;
  if (first !== undefined && validationActions.includes("Deny")) {
    throw denied(request, `${named} denied request: ${first.message}`, first.reason);
  }
}

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

/** The text of a 403 with the code of the reason, as a real server answers it. */
function denied(request: AdmissionRequest, why: string, reason: StatusReason): ApiError {
  const { group, resource } = request.definition;
  const { name } = request;
  const subject = name === "" ? groupResource({ group, resource }) : `${groupResource({ group, resource })} "${name}"`;
  const named = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
  const details = { ...named, causes: [{ message: why }] };
  return new ApiError(failure(codes[reason] ?? 422, reason, `${subject} is forbidden: ${why}`, details));
}

type Params = readonly (UnstructuredObject | undefined)[];

/** The parameters to try one after the other, or why there are none although there have to be. */
function paramsOf(
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

function problemsOf(
  policy: CompiledPolicy,
  request: AdmissionRequest,
  params: UnstructuredObject | undefined,
): readonly Problem[] {
  const { object, old, namespace, reader, definition } = request;
  const namespaceObject =
    namespace === "" || !definition.namespaced ? undefined : reader.get("", "namespaces", "", namespace);
  const values = { object, oldObject: old, request: requestFields(request, ""), namespaceObject, params };
  const evaluation = policy.environment.evaluate(values);
  const isIgnored = policy.spec.failurePolicy === "Ignore";
  const unmet = unmetConditions(policy, evaluation);
  if (unmet === "unmet") return [];
  if (unmet !== "met") return isIgnored ? [] : unmet.map((message) => ({ message, reason: "Invalid" }));
  return policy.validations.flatMap(({ source, expression, message }): readonly Problem[] => {
    const result = run(evaluation, expression);
    if ("error" in result) {
      const text = `expression '${source.expression}' resulted in error: ${result.error}`;
      return isIgnored ? [] : [{ message: text, reason: "Invalid" }];
    }
    if (result.value === true) return [];
    const text = said(evaluation, message) ?? source.message ?? `failed expression: ${source.expression}`;
    return [{ message: text, reason: source.reason ?? "Invalid" }];
  });
}

function run(evaluation: CelEvaluation, expression: Compiled): ReturnType<CelEvaluation["run"]> {
  return typeof expression === "string" ? { error: expression } : evaluation.run(expression);
}

/** A condition that is false counts more than one that cannot be evaluated. */
function unmetConditions(
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

/** What `messageExpression` says, if it says something usable. */
function said(evaluation: CelEvaluation, message: Compiled | undefined): string | undefined {
  if (message === undefined) return undefined;
  const result = run(evaluation, message);
  if ("error" in result || typeof result.value !== "string") return undefined;
  const text = result.value.trim();
  return text === "" || text.includes("\n") || text.length > messageLengthMax ? undefined : text;
}

const messageLengthMax = 5 * 1024;
