/** Requests between the operator, transfer pods and servers. */
import { request } from "node:http";
import { text } from "node:stream/consumers";

const deadlineMs = 5_000;

/** Rejects for any answer but 200, with what it says. */
export function getText(url: string, signal: AbortSignal): Promise<string> {
  return send("GET", url, "", signal);
}

export function postJson(url: string, body: unknown, signal: AbortSignal): Promise<string> {
  return send("POST", url, JSON.stringify(body), signal);
}

function send(method: string, url: string, body: string, signal: AbortSignal): Promise<string> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, signal: within, agent: false }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`${url} answered ${response.statusCode}: ${answer}`));
      }, reject);
    });
    sent.on("error", reject).end(body);
  });
}
