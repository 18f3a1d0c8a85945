/** Asks a server to load its configuration. */
import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";

const deadlineMs = 30_000;
const answerLengthMax = 2_000;

/** Rejects with the answer of the server when it keeps its old configuration. */
export function requestReload(url: string, signal: AbortSignal): Promise<void> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent: false, signal: within } as const;
    const sent = requestOf(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text = (text + chunk).slice(0, answerLengthMax)));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`The server answered ${response.statusCode ?? 0}: ${text.trim()}`));
      });
    });
    sent.on("error", (error) => reject(new Error(`The server does not answer: ${error.message}`)));
    sent.end();
  });
}

export type Answered = (response: IncomingMessage) => void;

/** To the server of the pod. The certificate of a server is for its own name, not for the loopback. */
export function requestOf(url: string, options: RequestOptions, answered: Answered): ClientRequest {
  return url.startsWith("https:")
    ? httpsRequest(url, { ...options, rejectUnauthorized: false }, answered)
    : httpRequest(url, options, answered);
}
