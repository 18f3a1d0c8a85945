/** The configurations by which an API server knows the webhooks and policies of an operator. */
import {
  type CustomResourceDefinition,
  type MutatingWebhook,
  MutatingWebhookConfiguration,
  Service,
  type ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from "@setpoint/api";
import type { KubeObject, LabelSelectorObject } from "@setpoint/apimachinery";
import { conversionPath, webhookPath, type WebhookDefinition, type WebhookRole } from "@setpoint/runtime";
import type { WebhookClient } from "@setpoint/schema";
import type { Operator } from "./operator.ts";
import { needsWebhookServer } from "./webhook-rules.ts";

/** By these an installation tells an operator the files of a certificate that it issues itself. */
export const certificateFileVariable = "SETPOINT_WEBHOOK_CERTIFICATE_FILE";
export const keyFileVariable = "SETPOINT_WEBHOOK_KEY_FILE";

/** Where webhooks run, and how the API server reaches them. */
export interface WebhookPlace {
  /** How the API server reaches the operator, for a path. */
  client(path: string): WebhookClient;
  /**
   * Where the operator itself runs: nothing there is subject to its webhooks, so that it can always come
   * back. Absent: on a desk.
   */
  readonly ownNamespace?: string;
}

/** What all objects about the webhooks of an installed operator are called. */
export function webhooksName(operator: Pick<Operator, "name">): string {
  return `${operator.name}-webhooks`;
}

/**
 * What the configurations of a run on a desk are called. They name a URL: under the name of those of an
 * installation they would stand in the way of its manifests when the run ends without removing them.
 */
export function deskWebhooksName(operator: Pick<Operator, "name">): string {
  return `${webhooksName(operator)}-desk`;
}

/**
 * A ValidatingWebhookConfiguration and a MutatingWebhookConfiguration, as far as there is something to ask.
 */
export function webhookConfigurations(operator: Operator, place: WebhookPlace): readonly KubeObject[] {
  const name = place.ownNamespace === undefined ? deskWebhooksName(operator) : webhooksName(operator);
  const validating = webhooksOf(operator, "validate", place);
  const mutating = webhooksOf(operator, "mutate", place);
  return [
    ...(validating.length === 0 ? [] : [ValidatingWebhookConfiguration({ name, webhooks: validating })]),
    ...(mutating.length === 0 ? [] : [MutatingWebhookConfiguration({ name, webhooks: mutating })]),
  ];
}

export interface WebhookInstallation {
  readonly crds: readonly KubeObject[];
  /** A Service in front of the operator, configurations, policies. */
  readonly objects: readonly KubeObject[];
  /** Where the operator listens for API servers. */
  readonly ports: readonly number[];
}

/** Where operators listen for API servers; configurations name port 443 of a Service. */
export const webhookPort = 9443;

/** What belongs to an installation; whom to trust is added by the running operator. */
export function webhookInstallation(
  operator: Operator,
  own: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
): WebhookInstallation {
  const { name, namespace, labels } = own;
  const client = (path: string): WebhookClient => ({ service: { name, namespace, path, port: 443 } });
  const policies = operator.policies.flatMap((each) => each.manifests());
  const crds = operator.crds({ conversion: client(conversionPath) }).map(withoutAddress);
  if (!needsWebhookServer(operator.webhooks, operator.kinds)) return { crds, objects: policies, ports: [] };
  const ports = [{ name: "webhooks", port: 443, targetPort: webhookPort, protocol: "TCP" as const }];
  const service = Service({ ...own, spec: { selector: labels, ports } });
  const configurations = webhookConfigurations(operator, { client, ownNamespace: namespace });
  return { crds, objects: [service, ...configurations, ...policies], ports: [webhookPort] };
}

/**
 * The definition without the address that a run on a desk may have left in it: a server refuses one beside a
 * Service.
 */
function withoutAddress(crd: KubeObject): KubeObject {
  const { spec } = crd as CustomResourceDefinition;
  const { conversion } = spec;
  const clientConfig = conversion?.webhook?.clientConfig;
  if (clientConfig === undefined) return crd;
  const webhook = { ...conversion?.webhook, clientConfig: { ...clientConfig, url: null } };
  return { ...crd, spec: { ...spec, conversion: { ...conversion, webhook } } } as KubeObject;
}

/** Both kinds of webhooks are written alike. */
type RegisteredWebhook = ValidatingWebhook & MutatingWebhook;

function webhooksOf(operator: Operator, role: WebhookRole, place: WebhookPlace): readonly RegisteredWebhook[] {
  return operator.webhooks
    .filter(({ operations }) => operations[role].length > 0)
    .map((definition) => registered(definition, role, place));
}

function registered(definition: WebhookDefinition, role: WebhookRole, place: WebhookPlace): RegisteredWebhook {
  const { kind, operations, failurePolicy, timeoutSeconds, objectSelector, matchConditions } = definition;
  const { group, version, plural, namespaced } = kind;
  const namespaceSelector = selectorOf(definition, place.ownNamespace);
  return {
    name: `${role}.${plural}.${group === "" ? "core" : group}`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: place.client(webhookPath(role, kind)),
    rules: [
      {
        apiGroups: [group],
        apiVersions: [version],
        resources: [plural],
        operations: operations[role],
        scope: namespaced ? "Namespaced" : "Cluster",
      },
    ],
    failurePolicy,
    // Requests in other versions come converted to the one that the author's function knows.
    matchPolicy: "Equivalent",
    timeoutSeconds,
    ...(role === "mutate" ? { reinvocationPolicy: "IfNeeded" } : {}),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions.length === 0 ? {} : { matchConditions }),
  };
}

function selectorOf(
  { namespaceSelector }: WebhookDefinition,
  ownNamespace: string | undefined,
): LabelSelectorObject | undefined {
  if (ownNamespace === undefined) return namespaceSelector;
  const elsewhere = { key: "kubernetes.io/metadata.name", operator: "NotIn" as const, values: [ownNamespace] };
  return { ...namespaceSelector, matchExpressions: [...(namespaceSelector?.matchExpressions ?? []), elsewhere] };
}
