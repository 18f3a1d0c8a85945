/** The specs of admission policies and their bindings; their schemas have checked the types. */
import type { LabelSelectorObject, StatusReason } from "@setpoint/apimachinery";
import type { ResourceRule } from "./resource-rule.ts";
import type { MatchCondition } from "./webhook-configuration.ts";

export interface MatchResources {
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
}

export interface PolicyValidation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: StatusReason;
}

export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string };
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations?: readonly PolicyValidation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly failurePolicy?: "Fail" | "Ignore";
  /** MutatingAdmissionPolicy only. */
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

export interface Mutation {
  readonly patchType?: "ApplyConfiguration" | "JSONPatch";
  readonly applyConfiguration?: { readonly expression?: string };
  readonly jsonPatch?: { readonly expression?: string };
}

/** The expression that makes a mutation. */
export function mutationSource({ patchType, applyConfiguration, jsonPatch }: Mutation): string {
  return (patchType === "JSONPatch" ? jsonPatch?.expression : applyConfiguration?.expression) ?? "";
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelectorObject;
  readonly parameterNotFoundAction?: "Allow" | "Deny";
}

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}
