/** Asks the reloader of a pod what Prometheus has loaded. */
import type { LoadedReport } from "../reload/reloader.ts";
import { loadedPath } from "../reload/loaded-path.ts";
import { askReloader } from "./ask-reloader.ts";

/** Rejects when the reloader gives no answer. */
export type LoadedGateway = (podIP: string, signal: AbortSignal) => Promise<LoadedReport>;

export const httpLoadedGateway: LoadedGateway = (podIP, signal) => askReloader(podIP, loadedPath, parseReport, signal);

/** Only what the operator uses, of the types that it expects. */
function parseReport(value: object): LoadedReport {
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
