/** Sends a review to a webhook and reads its response within the webhook's timeout. */
import { decodeJson, isJsonObject, type JsonObject, messageOf } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { excessOfJson } from "../request/value-bounds.ts";
import type { WebhookCaller } from "./webhook-caller.ts";
import type { WebhookClientConfig } from "../registry/webhook-client-config.ts";

export interface ReviewCall {
  readonly config: WebhookClientConfig;
  readonly timeoutSeconds: number;
  readonly review: Readonly<Record<string, unknown>>;
  /** Given up for the caller's own reasons. */
  readonly signal: AbortSignal;
}

/** The response's JSON object. Throws an `Error` with kube-apiserver's message. */
export async function postReview(caller: WebhookCaller, clock: Clock, call: ReviewCall): Promise<JsonObject> {
  const { config, timeoutSeconds, review } = call;
  const url = urlOf(config, timeoutSeconds);
  const deadline = new AbortController();
  const late = new Error("context deadline exceeded");
  const timer = clock.setTimer(() => deadline.abort(late), timeoutSeconds * 1000);
  try {
    const signal = AbortSignal.any([deadline.signal, call.signal]);
    const { status, text } = await caller.call({ url, config, body: review }, signal);
    return parseAnswer(status, text);
  } catch (error) {
    if (error instanceof AnswerError) throw error;
    call.signal.throwIfAborted();
    const why = deadline.signal.aborted ? late.message : messageOf(error);
    throw new Error(`Post ${JSON.stringify(url)}: ${why}`, { cause: error });
  } finally {
    timer.cancel();
  }
}

/** The webhook answered, but with something else than a review. */
class AnswerError extends Error {}

function parseAnswer(status: number, text: string): JsonObject {
  if (status === 404) throw new AnswerError("the server could not find the requested resource");
  if (status < 200 || status > 299) {
    const quoted = JSON.stringify(text.trim().slice(0, quotedAnswerMax));
    throw new AnswerError(`an error on the server (${quoted}) has prevented the request from succeeding`);
  }
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    throw new AnswerError("couldn't get version/kind; json parse error: the answer is not a JSON object");
  }
  return value;
}

/** Characters of an invalid response that the error message quotes. */
const quotedAnswerMax = 2048;

/** Values of one answer: it may convert many objects. */
const answerValuesMax = 1_000_000;

function parseJson(text: string): unknown {
  const excess = excessOfJson(Buffer.from(text), answerValuesMax);
  if (excess !== undefined) throw new AnswerError(`the answer has too many ${excess}`);
  try {
    return decodeJson(text);
  } catch {
    return undefined;
  }
}

/** As a real server writes it, with the port that a URL object would drop. */
function urlOf({ url, service }: WebhookClientConfig, timeoutSeconds: number): string {
  const query = `?timeout=${timeoutSeconds}s`;
  if (url !== undefined) return `${url}${query}`;
  const { namespace = "", name = "", path = "", port = 443 } = service ?? {};
  return `https://${name}.${namespace}.svc:${port}${path === "" ? "/" : path}${query}`;
}
