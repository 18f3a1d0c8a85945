/** Whether a webhook or a policy matches a request, and in which version. */
import { matchesLabelSelector, type LabelSelectorObject, type UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { matchesRule } from "./resource-rules.ts";
import { type ResourceRule } from "../registry/admissionregistration/resource-rule.ts";

export interface MatchConstraints {
  readonly rules: readonly ResourceRule[];
  readonly excluded?: readonly ResourceRule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
}

/** The other served versions of the request's resource, for `matchPolicy: Equivalent`. */
export type Equivalents = (definition: ResourceDefinition) => readonly ResourceDefinition[];

/** The definition of the version in which it gets the objects; undefined when it does not match. */
export function matchRequest(
  constraints: MatchConstraints,
  request: AdmissionRequest,
  equivalents: Equivalents,
): ResourceDefinition | undefined {
  const { rules, excluded = [] } = constraints;
  if (excluded.some((rule) => matchesRule(rule, request))) return undefined;
  const wanted = matchingDefinition(constraints, rules, request, equivalents);
  if (wanted === undefined) return undefined;
  return matchesNamespace(constraints.namespaceSelector, request) && matchesObject(constraints.objectSelector, request)
    ? wanted
    : undefined;
}

function matchingDefinition(
  { matchPolicy }: MatchConstraints,
  rules: readonly ResourceRule[],
  request: AdmissionRequest,
  equivalents: Equivalents,
): ResourceDefinition | undefined {
  if (rules.some((rule) => matchesRule(rule, request))) return request.definition;
  if (matchPolicy === "Exact") return undefined;
  for (const definition of equivalents(request.definition)) {
    if (rules.some((rule) => matchesRule(rule, { ...request, definition }))) return definition;
  }
  return undefined;
}

function isEmpty(selector: LabelSelectorObject | undefined): boolean {
  if (selector === undefined) return true;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/** Namespaces are selected by their own labels; other objects outside of namespaces are always meant. */
function matchesNamespace(selector: LabelSelectorObject | undefined, request: AdmissionRequest): boolean {
  if (selector === undefined || isEmpty(selector)) return true;
  const { definition, namespace, reader } = request;
  if (definition.group === "" && definition.resource === "namespaces") {
    const own = request.object ?? request.old ?? reader.get("", "namespaces", "", request.name);
    return matchesLabels(selector, own);
  }
  if (namespace === "" || !definition.namespaced) return true;
  return matchesLabels(selector, reader.get("", "namespaces", "", namespace));
}

/** The new object or the old one; an object without labels has none that fit. */
function matchesObject(selector: LabelSelectorObject | undefined, { object, old }: AdmissionRequest): boolean {
  if (selector === undefined || isEmpty(selector)) return true;
  return [object, old].some((each) => each !== undefined && matchesLabels(selector, each));
}

function matchesLabels(selector: LabelSelectorObject, object: UnstructuredObject | undefined): boolean {
  return matchesLabelSelector(selector, object?.metadata.labels ?? {});
}
