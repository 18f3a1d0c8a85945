/** Webhook configurations as the API server stores them, with every default filled. */
import type { LabelSelectorObject, UnstructuredObject } from "@setpoint/apimachinery";
import type { ResourceRule } from "./resource-rule.ts";
import type { WebhookClientConfig } from "../webhook-client-config.ts";

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly ResourceRule[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  readonly matchConditions?: readonly MatchCondition[];
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** The webhooks of a stored configuration; its schema has checked their types. */
export function webhooksOf(configuration: UnstructuredObject): readonly Webhook[] {
  return (configuration["webhooks"] ?? []) as readonly Webhook[];
}
