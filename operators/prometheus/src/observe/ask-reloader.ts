/** Asks the reloader of a pod. */
import { request } from "node:http";
import { reloaderPort } from "../workload/names.ts";

/** A reloader answers from memory, or asks the server of its pod for less. */
const deadlineMs = 2_000;
const answerBytesMax = 65_536;

/** Rejects when the reloader gives no answer, and for one that `parse` throws for. */
export function askReloader<T>(
  podIP: string,
  path: string,
  parse: (value: object) => T,
  signal: AbortSignal,
): Promise<T> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const host = podIP.includes(":") ? `[${podIP}]` : podIP;
  return new Promise((resolve, reject) => {
    const url = `http://${host}:${reloaderPort}${path}`;
    const sent = request(url, { agent: false, signal: within }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > answerBytesMax) sent.destroy(new Error(`The answer of ${url} is too long`));
      });
      response.on("error", reject);
      response.on("end", () => {
        try {
          if (response.statusCode !== 200) throw new Error(text.slice(0, 200));
          resolve(parse(asObject(JSON.parse(text))));
        } catch (error) {
          reject(new Error(`${url} answered ${response.statusCode ?? 0} without a report`, { cause: error }));
        }
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

function asObject(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new Error("expected an object");
  return value;
}
