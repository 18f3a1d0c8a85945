/** Wires admission by webhooks and policies into an API server. */
import type { ApiServer } from "./api-server.ts";
import { PolicyList } from "../webhook/admission-policies.ts";
import { mutatingPolicies } from "../webhook/mutating-policies.ts";
import { validatingPolicies } from "../webhook/policy-admission.ts";
import { versionConverter, equivalentsIn } from "../webhook/version-converter.ts";
import { mutatingWebhooks, validatingWebhooks } from "../webhook/webhook-admission.ts";
import type { WebhookCaller } from "../webhook/webhook-caller.ts";
import { WebhookList } from "../webhook/webhook-list.ts";

/** What calling admission webhooks needs in addition to the server. */
export interface ServeWebhooksOptions {
  readonly caller: WebhookCaller;
}

/**
 * Calls the stored webhooks and evaluates the stored policies from now on; dispose of it before the storage
 * is closed.
 */
export function serveWebhooks(server: ApiServer, { caller }: ServeWebhooksOptions): Disposable {
  const { storage, registry, authorizer } = server;
  const mutating = new WebhookList(storage, "mutatingwebhookconfigurations");
  const validating = new WebhookList(storage, "validatingwebhookconfigurations");
  const stopped = new AbortController();
  const equivalents = equivalentsIn(registry);
  const parts = { caller, authorizer, equivalents, converter: versionConverter, signal: stopped.signal };
  const policyParts = { registry, authorizer, equivalents };
  const policies = new PolicyList(storage, "validating");
  const mutations = new PolicyList(storage, "mutating");
  server.addAdmission(
    mutatingPolicies(mutations, policyParts),
    mutatingWebhooks(mutating, parts),
    validatingPolicies(policies, policyParts),
    validatingWebhooks(validating, parts),
  );
  return {
    [Symbol.dispose]() {
      stopped.abort(new Error("the API server stops"));
      mutating.stop();
      validating.stop();
      policies.stop();
      mutations.stop();
    },
  };
}
