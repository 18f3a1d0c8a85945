/** Admission by MutatingAdmissionPolicies: CEL expressions change the object. */
import {
  ApiError,
  failure,
  isApiError,
  isJsonObject,
  jsonPatch,
  type JsonObject,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { rootAtomOf } from "../apply/atom.ts";
import { mergeObjects } from "../apply/merge-objects.ts";
import type { BoundPolicy, CompiledMutation, PolicyList } from "./admission-policies.ts";
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
import { replaceContent, versionConverter } from "./version-converter.ts";

/**
 * Only requests in a version that the policy names are changed: the way back from another version may have to
 * be asked for.
 */
export function mutatingPolicies(list: PolicyList, parts: PolicyAdmissionParts): AdmissionPlugin {
  return {
    name: "MutatingAdmissionPolicy",
    async admit(request) {
      const { object, definition, operation } = request;
      if (list.bound.length === 0 || object === undefined || operation === "CONNECT" || isExempt(request)) return;
      for (const bound of list.bound) {
        if (request.pass.isRepeated && bound.policy.spec.reinvocationPolicy !== "IfNeeded") continue;
        if (wantedDefinition(bound, request, parts.equivalents) === definition) mutate(bound, request, object, parts);
      }
    },
  };
}

function mutate(
  bound: BoundPolicy,
  request: AdmissionRequest,
  object: UnstructuredObject,
  parts: PolicyAdmissionParts,
): void {
  const { policy, binding } = bound;
  const found = paramsOf(policy, binding.spec, request, parts);
  if (typeof found === "string") return refuse(bound, request, `failed to configure binding: ${found}`);
  for (const params of found) {
    const unmet = unmetConditions(policy, evaluationOf(policy, request, params, parts));
    if (unmet === "unmet") continue;
    if (unmet !== "met") refuse(bound, request, unmet.join(", "));
    else for (const mutation of policy.mutations) apply(bound, mutation, request, object, params, parts);
  }
}

function apply(
  bound: BoundPolicy,
  mutation: CompiledMutation,
  request: AdmissionRequest,
  object: UnstructuredObject,
  params: UnstructuredObject | undefined,
  parts: PolicyAdmissionParts,
): void {
  // Each mutation sees what those before it made of the object.
  const result = run(evaluationOf(bound.policy, request, params, parts), mutation.expression);
  if ("error" in result) {
    return refuse(bound, request, `expression '${mutation.source}' resulted in error: ${result.error}`);
  }
  try {
    const made = mutation.isJsonPatch ? patched(object, result.value) : merged(request, object, result.value);
    const decoded = versionConverter.decode(subjectDefinition(request, request.definition), made);
    if (replaceContent(object, decoded)) request.pass.isNeededAgain = !request.pass.isRepeated;
  } catch (error) {
    if (!isApiError(error)) throw error;
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    refuse(bound, request, mutation.isJsonPatch ? `JSON Patch: ${why}` : `error applying patch: ${why}`);
  }
}

function patched(object: UnstructuredObject, patch: unknown): unknown {
  return jsonPatch(object, patch);
}

/** As server-side apply merges, by the schema's lists and maps. */
function merged(request: AdmissionRequest, object: UnstructuredObject, configuration: unknown): JsonObject {
  const live = object as unknown as JsonObject;
  const { schema } = subjectDefinition(request, request.definition);
  return isJsonObject(configuration) ? mergeObjects(rootAtomOf(schema), live, configuration) : live;
}

function refuse({ policy, binding }: BoundPolicy, request: AdmissionRequest, why: string): void {
  if (policy.spec.failurePolicy === "Ignore") return;
  const { group, resource } = request.definition;
  const { name } = request;
  const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${why}`;
  const named = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
  throw new ApiError(failure(403, "Invalid", message, { ...named, causes: [{ message }] }));
}
