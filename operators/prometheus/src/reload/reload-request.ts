/** Asks Prometheus to load its configuration. */
import { request } from "node:http";

const deadlineMs = 30_000;
const answerLengthMax = 2_000;

/** Rejects with the answer of Prometheus when it keeps its old configuration. */
export function requestReload(url: string, signal: AbortSignal): Promise<void> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent: false, signal: within }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text = (text + chunk).slice(0, answerLengthMax)));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`Prometheus answered ${response.statusCode ?? 0}: ${text.trim()}`));
      });
    });
    sent.on("error", (error) => reject(new Error(`Prometheus does not answer: ${error.message}`)));
    sent.end();
  });
}
