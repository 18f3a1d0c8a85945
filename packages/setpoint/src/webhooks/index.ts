/** What the API server asks before it accepts a write. */

// functions of the operator
export type { AdmissionContext, AdmissionOperation, WebhookDefinition, WebhookInit } from "@setpoint/runtime";
export { webhooks } from "@setpoint/runtime";

// rules that the API server checks itself
export type { AdmissionPolicy, AdmissionPolicyOptions } from "../admission-policy.ts";
export { admissionPolicy } from "../admission-policy.ts";

// the objects that register the functions
export type { WebhookPlace } from "../webhook-manifests.ts";
export { deskWebhooksName, webhookConfigurations, webhooksName } from "../webhook-manifests.ts";
