/** One request, whose answer is kept short. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { HttpAnswer } from "../acts/probed-pod.ts";

const answerMsMax = 3_000;
const bodyLengthMax = 16_384;
const messageLengthMax = 200;

export interface HttpQuestion {
  readonly method: string;
  readonly token?: string;
  /** Without it, the certificate of the server is not checked. */
  readonly authority?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function ask(url: string, { method, token, authority, headers, body }: HttpQuestion): Promise<HttpAnswer> {
  const options: RequestOptions = {
    method,
    timeout: answerMsMax,
    agent: false,
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    // What listens there is the question, not whether it is who it should be.
    ...(authority === undefined ? { rejectUnauthorized: false } : { ca: authority }),
  };
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const request = send(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (text.length < bodyLengthMax) text += chunk;
      });
      response.on("end", () => resolve(answerOf(response.statusCode ?? 0, text)));
      response.on("error", reject);
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${answerMsMax} ms`)));
    request.on("error", reject);
    request.end(body);
  });
}

/** The message of a refusal; a success may have secrets, so nothing of it is shown. */
function answerOf(code: number, body: string): HttpAnswer {
  const message = code < 400 ? "" : (statusMessage(body) ?? body.split("\n")[0] ?? "");
  return { code, body, message: message.slice(0, messageLengthMax) };
}

function statusMessage(body: string): string | undefined {
  try {
    const status = JSON.parse(body) as { readonly message?: unknown };
    return typeof status.message === "string" ? status.message : undefined;
  } catch {
    return undefined;
  }
}
