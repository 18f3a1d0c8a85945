/** Asks the reloader of a pod what Prometheus has loaded. */
import { request } from "node:http";
import type { LoadedReport } from "../reload/reloader.ts";
import { loadedPath } from "../reload/loaded-path.ts";
import { reloaderPort } from "../workload/names.ts";

/** Rejects when the reloader gives no answer. */
export type LoadedGateway = (podIP: string, signal: AbortSignal) => Promise<LoadedReport>;

/** A reloader answers from memory. */
const deadlineMs = 2_000;
const answerBytesMax = 65_536;

export const httpLoadedGateway: LoadedGateway = (podIP, signal) => {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const host = podIP.includes(":") ? `[${podIP}]` : podIP;
  return new Promise((resolve, reject) => {
    const url = `http://${host}:${reloaderPort}${loadedPath}`;
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
          resolve(parseReport(JSON.parse(text)));
        } catch (error) {
          reject(new Error(`${url} answered ${response.statusCode ?? 0} without a report`, { cause: error }));
        }
      });
    });
    sent.on("error", reject);
    sent.end();
  });
};

/** Only what the operator uses, of the types that it expects. */
function parseReport(value: unknown): LoadedReport {
  if (typeof value !== "object" || value === null) throw new Error("expected an object");
  const { hash, failing } = value as {
    hash?: unknown;
    failing?: { hash?: unknown; message?: unknown; since?: unknown };
  };
  return {
    ...(typeof hash === "string" ? { hash } : {}),
    ...(failing === undefined
      ? {}
      : { failing: { hash: String(failing.hash), message: String(failing.message), since: String(failing.since) } }),
  };
}
