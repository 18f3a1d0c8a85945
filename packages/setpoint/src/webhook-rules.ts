/**
 * What an operator must be allowed for its webhooks: to say which certificate they have, and to keep its key.
 */
import { groupResource } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { isConvertible, type WebhookDefinition } from "@setpoint/runtime";
import type { PolicyRule } from "./policy-rule.ts";

/** Whether anybody has to be listening for an API server. */
export function needsWebhookServer(webhooks: readonly WebhookDefinition[], kinds: readonly KindRef[]): boolean {
  return webhooks.length > 0 || kinds.some(isConvertible);
}

/** Its own configurations and CRDs, by their names. */
export function webhookRules(
  operator: string,
  webhooks: readonly WebhookDefinition[],
  kinds: readonly KindRef[],
): readonly PolicyRule[] {
  const resources = [
    ...(webhooks.some(({ operations }) => operations.validate.length > 0) ? ["validatingwebhookconfigurations"] : []),
    ...(webhooks.some(({ operations }) => operations.mutate.length > 0) ? ["mutatingwebhookconfigurations"] : []),
  ];
  const crds = kinds.filter(isConvertible).map(({ group, plural }) => groupResource({ group, resource: plural }));
  return [
    ...(resources.length === 0
      ? []
      : [
          {
            apiGroups: ["admissionregistration.k8s.io"],
            resources,
            resourceNames: [`${operator}-webhooks`],
            verbs: ["patch"],
          },
          // What a run on a desk has left.
          {
            apiGroups: ["admissionregistration.k8s.io"],
            resources,
            resourceNames: [`${operator}-webhooks-desk`],
            verbs: ["delete"],
          },
        ]),
    ...(crds.length === 0
      ? []
      : [
          {
            apiGroups: ["apiextensions.k8s.io"],
            resources: ["customresourcedefinitions"],
            resourceNames: crds,
            verbs: ["patch"],
          },
        ]),
  ];
}

/** The Secret with its certificates. `create` cannot be limited to a name. */
export function secretRules(
  operator: string,
  webhooks: readonly WebhookDefinition[],
  kinds: readonly KindRef[],
): readonly PolicyRule[] {
  if (!needsWebhookServer(webhooks, kinds)) return [];
  const secrets = { apiGroups: [""], resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [`${operator}-webhooks`], verbs: ["get", "list", "watch", "update"] },
  ];
}
