/** Admission by ValidatingAdmissionPolicies. */
import {
  lookupTable,
  ApiError,
  failure,
  groupResource,
  type StatusReason,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { CelEvaluation } from "@setpoint/schema/cel";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import type { BoundPolicy, Compiled, CompiledPolicy, PolicyList } from "./admission-policies.ts";
import {
  evaluationOf,
  paramsOf,
  type PolicyAdmissionParts,
  run,
  unmetConditions,
  wantedDefinition,
} from "./policy-evaluation.ts";
import { isExempt } from "./resource-rules.ts";
import { subjectDefinition } from "./subject-definition.ts";
import { versionConverter } from "./version-converter.ts";

export function validatingPolicies(list: PolicyList, parts: PolicyAdmissionParts): AdmissionPlugin {
  return {
    name: "ValidatingAdmissionPolicy",
    async validate(request) {
      if (isExempt(request)) return;
      for (const bound of list.bound) {
        const definition = wantedDefinition(bound, request, parts.equivalents);
        if (definition !== undefined) decide(bound, await inVersion(definition, request), parts);
      }
    },
  };
}

/** A policy that names another version sees the objects in it. */
async function inVersion(
  definition: AdmissionRequest["definition"],
  request: AdmissionRequest,
): Promise<AdmissionRequest> {
  if (definition === request.definition) return request;
  const convert = (object: UnstructuredObject | undefined): Promise<UnstructuredObject | undefined> =>
    versionConverter.convert(
      subjectDefinition(request, request.definition),
      subjectDefinition(request, definition),
      object,
    );
  const [object, old] = await Promise.all([convert(request.object), convert(request.old)]);
  return { ...request, object, old };
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
      : found.flatMap((params) => problemsOf(policy, request, params, parts));
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

const codes: Readonly<Record<string, number>> = lookupTable({
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
});

/** The text of a 403 with the code of the reason, as a real server answers it. */
function denied(request: AdmissionRequest, why: string, reason: StatusReason): ApiError {
  const { group, resource } = request.definition;
  const { name } = request;
  const subject = name === "" ? groupResource({ group, resource }) : `${groupResource({ group, resource })} "${name}"`;
  const named = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
  const details = { ...named, causes: [{ message: why }] };
  return new ApiError(failure(codes[reason] ?? 422, reason, `${subject} is forbidden: ${why}`, details));
}

function problemsOf(
  policy: CompiledPolicy,
  request: AdmissionRequest,
  params: UnstructuredObject | undefined,
  parts: PolicyAdmissionParts,
): readonly Problem[] {
  const evaluation = evaluationOf(policy, request, params, parts);
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

/** The result of `messageExpression`, if it is a usable message. */
function said(evaluation: CelEvaluation, message: Compiled | undefined): string | undefined {
  if (message === undefined) return undefined;
  const result = run(evaluation, message);
  if ("error" in result || typeof result.value !== "string") return undefined;
  const text = result.value.trim();
  return text === "" || text.includes("\n") || text.length > messageLengthMax ? undefined : text;
}

const messageLengthMax = 5 * 1024;
