/** Asks the reloader of a pod which targets Prometheus has for a job. */
import { poolPath } from "../reload/loaded-path.ts";
import type { PoolReport } from "../reload/pool-report.ts";
import { askReloader } from "./ask-reloader.ts";

/** `pool` is the name of the job. Rejects when the reloader gives no answer. */
export type PoolGateway = (podIP: string, pool: string, signal: AbortSignal) => Promise<PoolReport>;

export const httpPoolGateway: PoolGateway = (podIP, pool, signal) =>
  askReloader(podIP, `${poolPath}?${new URLSearchParams({ pool }).toString()}`, parseReport, signal);

/** For an operator that reaches no pod. */
export const silentPoolGateway: PoolGateway = () => Promise.reject(new Error("no reloader is asked"));

/** Only what the operator uses, of the types that it expects. */
function parseReport(value: object): PoolReport {
  const { active, up, unknown, failures } = value as { readonly [Name in keyof PoolReport]?: unknown };
  if (!Array.isArray(failures)) throw new Error("expected a list of failures");
  const list = failures as readonly { readonly target?: unknown; readonly message?: unknown }[];
  return {
    ...{ active: Number(active), up: Number(up), unknown: Number(unknown) },
    failures: list.map(({ target, message }) => ({ target: String(target), message: String(message) })),
  };
}
