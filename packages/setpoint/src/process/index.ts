/** Runs an operator as a process of its own; Node only. */
export type { OperatorProcessOptions } from "./operator-process.ts";
export { isOperator, runOperatorProcess } from "./operator-process.ts";
export { installKinds } from "./install-kinds.ts";

// webhooks
export type { CertificateTimes } from "./certificate-plan.ts";
export { certificateTimes } from "./certificate-plan.ts";
export type { OperatorWebhooks, OperatorWebhooksOptions } from "./operator-webhooks.ts";
export { serveOperatorWebhooks } from "./operator-webhooks.ts";
export { webhookBodyBytesMax } from "./webhook-server.ts";
