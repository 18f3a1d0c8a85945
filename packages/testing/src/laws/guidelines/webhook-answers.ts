/** Answers the API server for the webhooks and conversions of operators, also while these are stopped. */
import { encodeJson } from "@setpoint/apimachinery";
import type { WebhookCaller } from "@setpoint/apiserver";
import { simulatedHost } from "@setpoint/host/simulated";
import { createWebhookHandler } from "@setpoint/runtime";
import type { Operator } from "setpoint";

const notFound = 404;

export function webhookAnswers(operators: readonly Operator[]): WebhookCaller {
  const host = simulatedHost(0);
  const handlers = operators.map(({ webhooks, kinds }) => createWebhookHandler({ ...host, webhooks, kinds }));
  return {
    async call({ config, body }) {
      const path = config.service?.path ?? "/";
      for (const handler of handlers) {
        const { status, body: answer } = await handler.handle({ path, timeoutSeconds: undefined, body });
        if (status !== notFound) return { status, text: encodeJson(answer) };
      }
      return { status: notFound, text: "" };
    },
  };
}
