/** Removes what a run of an operator on a desk has registered. */
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@setpoint/api";
import { isForbidden, isNotFound } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import type { Operator } from "./operator.ts";
import { deskWebhooksName } from "./webhook-manifests.ts";

const kinds: readonly KindRef[] = [ValidatingWebhookConfiguration, MutatingWebhookConfiguration];

/**
 * Removes the configurations of a run on a desk that ended without removing them: the server would go on
 * calling it. Resolves to the kinds of those that were there. An account that may not remove them leaves
 * them.
 */
export async function removeDeskConfigurations(
  operator: Pick<Operator, "name" | "webhooks">,
  client: Client,
): Promise<readonly string[]> {
  if (operator.webhooks.length === 0) return [];
  const removed: string[] = [];
  for (const kind of kinds) {
    try {
      await client.delete(kind, { name: deskWebhooksName(operator) });
      removed.push(kind.kind);
    } catch (error) {
      if (!isNotFound(error) && !isForbidden(error)) throw error;
    }
  }
  return removed;
}
