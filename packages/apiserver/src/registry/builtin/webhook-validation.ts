/** Validation of webhook configurations and admission policies, with kube-apiserver's messages. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import type { CelEnvironment } from "@setpoint/schema/cel";
import { type BindingSpec, mutationSource, type PolicySpec } from "../admissionregistration/policy-spec.ts";
import { policyEnvironment } from "../admissionregistration/expression-environment.ts";
import { conditionsEnvironment } from "../admissionregistration/expression-environment.ts";
import type { ResourceRule } from "../admissionregistration/resource-rule.ts";
import type { WebhookClientConfig } from "../webhook-client-config.ts";
import { type MatchCondition, type Webhook, webhooksOf } from "../admissionregistration/webhook-configuration.ts";
import { duplicates, invalidValue, notSupported, required } from "../field-errors.ts";
import { sameJson } from "../json-fields.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const timeoutSecondsMax = 30;
/** A webhook's name is a domain of the author's own. */
const nameSegmentsMin = 3;

export function validateWebhooks(
  configuration: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  if (old !== undefined && sameJson(configuration["webhooks"], old["webhooks"])) return [];
  const webhooks = webhooksOf(configuration);
  return [
    ...webhooks.flatMap((webhook, index) => webhookErrors(webhook, `webhooks[${index}]`)),
    ...duplicates(
      (index) => `webhooks[${index}].name`,
      webhooks.map(({ name }) => name),
    ),
  ];
}

type WrittenWebhook = Webhook & { readonly admissionReviewVersions?: readonly string[] };

function webhookErrors(webhook: WrittenWebhook, path: string): readonly FieldError[] {
  const { name, rules = [], failurePolicy, matchPolicy, sideEffects, timeoutSeconds = 10 } = webhook;
  const { admissionReviewVersions: versions = [], matchConditions = [] } = webhook;
  const isQualified = name.split(".").filter((part) => part !== "").length >= nameSegmentsMin;
  const nameText = "should be a domain with at least three segments separated by dots";
  const timeText = "the timeout value must be between 1 and 30 seconds";
  return [
    ...(isQualified ? [] : [invalidValue(`${path}.name`, name, nameText)]),
    ...rules.flatMap((rule, index) => ruleErrors(rule, `${path}.rules[${index}]`)),
    ...oneOf(`${path}.failurePolicy`, failurePolicy, ["Fail", "Ignore"]),
    ...oneOf(`${path}.matchPolicy`, matchPolicy, ["Equivalent", "Exact"]),
    ...(sideEffects === undefined
      ? [required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun")]
      : oneOf(`${path}.sideEffects`, sideEffects, ["None", "NoneOnDryRun"])),
    ...(timeoutSeconds >= 1 && timeoutSeconds <= timeoutSecondsMax
      ? []
      : [invalidValue(`${path}.timeoutSeconds`, timeoutSeconds, timeText)]),
    ...clientErrors(webhook.clientConfig, `${path}.clientConfig`),
    ...(versions.includes("v1") || versions.includes("v1beta1")
      ? []
      : [required(`${path}.admissionReviewVersions`, "must specify one of v1, v1beta1")]),
    ...conditionErrors(conditionsEnvironment(), matchConditions, `${path}.matchConditions`),
  ];
}

function oneOf(field: string, value: string | undefined, allowed: readonly string[]): readonly FieldError[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

function ruleErrors(rule: ResourceRule, path: string): readonly FieldError[] {
  const { operations: wanted = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  return [
    ...(wanted.length === 0 ? [required(`${path}.operations`)] : []),
    ...wanted.flatMap((each, index) => oneOf(`${path}.operations[${index}]`, each, operations)),
    ...(apiGroups.length === 0 ? [required(`${path}.apiGroups`)] : []),
    ...(apiVersions.length === 0 ? [required(`${path}.apiVersions`)] : []),
    ...resourceErrors(resources, `${path}.resources`),
    ...oneOf(`${path}.scope`, scope, ["*", "Cluster", "Namespaced"]),
  ];
}

function resourceErrors(resources: readonly string[], path: string): readonly FieldError[] {
  if (resources.length === 0) return [required(path)];
  const others = resources.filter((each) => each !== "*" && !each.includes("/"));
  if (!resources.includes("*") || others.length === 0) return [];
  return [invalidValue(path, resources, "if '*' is present, must not specify other resources without subresources")];
}

/** Exactly one way to call, and that by HTTPS. */
export function clientErrors({ url, service }: WebhookClientConfig, path: string): readonly FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, "exactly one of url or service is required")];
  }
  return url === undefined ? [] : urlErrors(url, `${path}.url`);
}

const wantedUrl = "desired format: https://host[/path]";

function urlErrors(text: string, field: string): readonly FieldError[] {
  if (!URL.canParse(text)) return [invalidValue(field, text, `url must be a valid URL; ${wantedUrl}`)];
  const { protocol, host, username, password, hash, search } = new URL(text);
  const scheme = protocol.replace(":", "");
  const user = password === "" ? username : `${username}:${password}`;
  return [
    ...(scheme === "https"
      ? []
      : [invalidValue(field, scheme, `'https' is the only allowed URL scheme; ${wantedUrl}`)]),
    ...(host === "" ? [invalidValue(field, host, `host must be specified; ${wantedUrl}`)] : []),
    ...(user === "" ? [] : [invalidValue(field, user, "user information is not permitted in the URL")]),
    ...(hash === "" ? [] : [invalidValue(field, hash.slice(1), "fragments are not permitted in the URL")]),
    ...(search === "" ? [] : [invalidValue(field, search.slice(1), "query parameters are not permitted in the URL")]),
  ];
}

function conditionErrors(
  environment: CelEnvironment,
  conditions: readonly MatchCondition[],
  path: string,
): readonly FieldError[] {
  return [
    ...conditions.flatMap(({ expression }, index) =>
      expressionErrors(environment, expression, `${path}[${index}].expression`, ["bool"]),
    ),
    ...duplicates(
      (index) => `${path}[${index}].name`,
      conditions.map(({ name }) => name),
    ),
  ];
}

function expressionErrors(
  environment: CelEnvironment,
  source: string,
  field: string,
  types: readonly string[],
  options?: { readonly isPlain: boolean },
): readonly FieldError[] {
  const compiled = environment.compile(source, options);
  if (typeof compiled === "string") return [invalidValue(field, source, `compilation failed: ${compiled}`)];
  if (compiled.type === "dyn" || types.includes(compiled.type)) return [];
  const wanted = types.length === 1 ? types[0] : `one of [${types.join(" ")}]`;
  return [invalidValue(field, source, `must evaluate to ${wanted} but got ${compiled.type}`)];
}

const validationReasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

function paramKindErrors({ paramKind }: PolicySpec): readonly FieldError[] {
  if (paramKind === undefined) return [];
  const { apiVersion = "", kind = "" } = paramKind;
  return [
    ...(apiVersion === "" ? [required("spec.paramKind.apiVersion")] : []),
    ...(kind === "" ? [required("spec.paramKind.kind")] : []),
  ];
}

function variableNameErrors({ variables = [] }: PolicySpec): readonly FieldError[] {
  return variables.flatMap(({ name }, index) => {
    const field = `spec.variables[${index}].name`;
    if (name === "") return [required(field, "name is not specified")];
    return /^[A-Za-z_]\w*$/.test(name) ? [] : [invalidValue(field, name, "must be a valid CEL identifier")];
  });
}

export function validatePolicy(policy: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  if (old !== undefined && sameJson(policy["spec"], old["spec"])) return [];
  const spec = (policy["spec"] ?? {}) as PolicySpec;
  const { matchConstraints, matchConditions = [], validations = [], auditAnnotations = [] } = spec;
  const variableErrors: FieldError[] = [];
  const environment = policyEnvironment(spec, (index, source, issue) => {
    variableErrors.push(invalidValue(`spec.variables[${index}].expression`, source, `compilation failed: ${issue}`));
  });
  const missing = "validations or auditAnnotations must contain at least one item";
  const isEmpty = validations.length === 0 && auditAnnotations.length === 0;
  return [
    ...(matchConstraints === undefined ? [required("spec.matchConstraints")] : []),
    ...(matchConstraints?.resourceRules ?? []).flatMap((rule, index) =>
      ruleErrors(rule, `spec.matchConstraints.resourceRules[${index}]`),
    ),
    ...paramKindErrors(spec),
    ...conditionErrors(environment, matchConditions, "spec.matchConditions"),
    ...variableNameErrors(spec),
    ...variableErrors,
    ...(isEmpty ? [required("spec.validations", missing), required("spec.auditAnnotations", missing)] : []),
    ...validations.flatMap(({ expression, messageExpression, reason }, index) => [
      ...oneOf(`spec.validations[${index}].reason`, reason, validationReasons),
      ...expressionErrors(environment, expression, `spec.validations[${index}].expression`, ["bool"]),
      ...(messageExpression === undefined
        ? []
        : expressionErrors(environment, messageExpression, `spec.validations[${index}].messageExpression`, ["string"], {
            isPlain: true,
          })),
    ]),
    ...auditAnnotations.flatMap(({ valueExpression }, index) =>
      expressionErrors(environment, valueExpression, `spec.auditAnnotations[${index}].valueExpression`, [
        "string",
        "null_type",
      ]),
    ),
  ];
}

export function validateMutatingPolicy(
  policy: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  if (old !== undefined && sameJson(policy["spec"], old["spec"])) return [];
  const spec: PolicySpec = { mutations: [], ...(policy["spec"] as PolicySpec) };
  const environment = policyEnvironment(spec);
  const { mutations = [] } = spec;
  return [
    ...conditionErrors(environment, spec.matchConditions ?? [], "spec.matchConditions"),
    ...(mutations.length === 0 ? [required("spec.mutations", "mutations must contain at least one item")] : []),
    ...mutations.flatMap((mutation, index) => {
      const [field, type] =
        mutation.patchType === "JSONPatch" ? ["jsonPatch", "list(JSONPatch)"] : ["applyConfiguration", "Object"];
      return expressionErrors(environment, mutationSource(mutation), `spec.mutations[${index}].${field}.expression`, [
        type ?? "",
      ]);
    }),
  ];
}

export function validateMutatingBinding(binding: UnstructuredObject): readonly FieldError[] {
  const { policyName = "" } = (binding["spec"] ?? {}) as BindingSpec;
  return policyName === "" ? [required("spec.policyName")] : [];
}

export function validatePolicyBinding(binding: UnstructuredObject): readonly FieldError[] {
  const { policyName = "", validationActions: actions = [] } = (binding["spec"] ?? {}) as BindingSpec;
  const field = "spec.validationActions";
  const both =
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
  return [
    ...(policyName === "" ? [required("spec.policyName")] : []),
    ...(actions.length === 0 ? [required(field, "at least one validation action is required")] : []),
    ...actions.flatMap((each, index) => oneOf(`${field}[${index}]`, each, ["Audit", "Deny", "Warn"])),
    ...(actions.includes("Deny") && actions.includes("Warn") ? [invalidValue(field, actions, both)] : []),
  ];
}
