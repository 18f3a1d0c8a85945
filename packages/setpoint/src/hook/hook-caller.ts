/** Calls a hook over HTTP: one request, one answer, both bounded in size and time. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { decodeJson, encodeJson, SetpointError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { TemporaryError } from "@setpoint/runtime";

/** How a hook is asked; anything that takes and gives JSON. */
export interface HookCaller {
  /** Names the hook in errors, for instance its address. */
  readonly name: string;
  call(request: unknown, signal: AbortSignal): Promise<unknown>;
}

/** How long an HTTP hook may take and how large its response may be. */
export interface HttpHookOptions {
  readonly clock: Clock;
  /** How long an answer may take; default 10 seconds. */
  readonly timeoutMs?: number;
  /** The size of an answer; default 10 MiB. */
  readonly answerBytesMax?: number;
}

/** A hook could not be reached, or did not answer as it should. */
export const errHook = "ERR_HOOK";

const timeoutMsDefault = 10_000;
const answerBytesMaxDefault = 10 * 1_024 * 1_024;
/** A text of a refusal that is shown. */
const excerptLengthMax = 200;

/** The hook at an address. Connections are kept by Node's own agent. */
export function httpHook(url: string, options: HttpHookOptions): HookCaller {
  const address = new URL(url);
  const send = address.protocol === "https:" ? httpsRequest : httpRequest;
  const { clock, timeoutMs = timeoutMsDefault, answerBytesMax = answerBytesMaxDefault } = options;
  return {
    name: `hook ${url}`,
    async call(body, signal) {
      const late = new AbortController();
      const timer = clock.setTimer(
        () => late.abort(hookError(url, `it has not answered within ${timeoutMs / 1_000} s`)),
        timeoutMs,
      );
      try {
        const text = encodeJson(body);
        const response = await new Promise<IncomingMessage>((resolve, reject) => {
          const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
          const sent = send(address, { method: "POST", headers, signal: AbortSignal.any([signal, late.signal]) });
          sent.once("response", resolve).once("error", reject).end(text);
        });
        return parse(url, response, await readBody(url, response, answerBytesMax));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (late.signal.aborted) throw late.signal.reason;
        if (error instanceof SetpointError) throw error;
        throw hookError(url, "it cannot be reached", error);
      } finally {
        timer.cancel();
      }
    },
  };
}

async function readBody(url: string, response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) {
      response.destroy();
      throw hookError(url, `its answer is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(url: string, { statusCode = 0, headers }: IncomingMessage, text: string): unknown {
  const isBusy = statusCode === 429 || statusCode === 503;
  const retryAfter = Number(headers["retry-after"]);
  if (isBusy && retryAfter > 0)
    throw new TemporaryError(`Cannot ask hook ${url}: it is busy for ${retryAfter} s`, retryAfter * 1_000);
  if (statusCode !== 200) throw hookError(url, `it answered ${statusCode}: ${text.slice(0, excerptLengthMax)}`);
  try {
    return decodeJson(text);
  } catch (cause) {
    throw hookError(url, "its answer is no JSON", cause);
  }
}

function hookError(url: string, problem: string, cause?: unknown): SetpointError {
  return new SetpointError(errHook, `Cannot ask hook ${url}: ${problem}`, { cause });
}
