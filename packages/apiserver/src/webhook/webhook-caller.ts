/** The interface through which the server calls webhooks; `http` implements it with sockets. */

import type { WebhookClientConfig } from "../registry/webhook-client-config.ts";

/** One call of a webhook; `body` is the review object. */
export interface WebhookCall {
  /** What messages name; for a Service its name, not its address. */
  readonly url: string;
  readonly config: WebhookClientConfig;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The HTTP response of a webhook, not yet parsed. */
export interface WebhookAnswer {
  readonly status: number;
  readonly text: string;
}

/** Calls webhooks for the server. Implementations must stop when the signal aborts. */
export interface WebhookCaller {
  /**
   * Posts the body as JSON. Rejects when there is no response, with an error whose message is Go's (`dial tcp
   * 127.0.0.1:1: connect: connection refused`), because users know and search for them.
   */
  call(call: WebhookCall, signal: AbortSignal): Promise<WebhookAnswer>;
}
