/** What pods use, from metrics.k8s.io. */
import { outcome, type ReconcileContext } from "@setpoint/runtime";
import { milliOf, type PodUsage } from "./replica-count.ts";

/** PodMetrics of metrics.k8s.io/v1beta1. */
interface PodMetrics {
  readonly metadata: { readonly name: string };
  readonly timestamp: string;
  readonly window: string;
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

export interface MetricsQuery {
  readonly namespace: string;
  readonly selector: string;
  readonly resource: string;
  readonly container?: string;
}

/** By the pod's name; a sentence when there are no metrics at all. */
export async function readUsage(
  query: MetricsQuery,
  { client, signal }: ReconcileContext,
): Promise<ReadonlyMap<string, PodUsage> | string> {
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(query.namespace)}/pods`;
  const asked = client.request({ method: "GET", path, query: { labelSelector: query.selector } }, { signal });
  const read = await outcome(asked);
  if (read.kind === "refused") return `unable to fetch metrics from resource metrics API: ${read.error.message}`;
  if (read.kind === "unknown") throw read.error;
  // The parsing border: metrics.k8s.io defines what it answers at this path.
  const items = read.object.kind === "object" ? (read.object.object as { items?: readonly PodMetrics[] }).items : [];
  if (items === undefined || items.length === 0) return "no metrics returned from resource metrics API";
  return new Map(items.flatMap((each) => usageOf(each, query)));
}

function usageOf(metrics: PodMetrics, { resource, container }: MetricsQuery): readonly (readonly [string, PodUsage])[] {
  const { timestamp, window } = metrics;
  const counted = metrics.containers.filter(({ name }) => container === undefined || name === container);
  const amounts = counted.flatMap(({ usage }) => usage[resource] ?? []);
  if (counted.length === 0 || amounts.length < counted.length) return [];
  const milli = amounts.reduce((sum, amount) => sum + milliOf(amount), 0);
  return [[metrics.metadata.name, { milli, atMs: Date.parse(timestamp), windowMs: durationMs(window) }]];
}

const unitsMs: ReadonlyMap<string, number> = new Map([
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
]);

/** `1m30.5s` as Go writes it; units below a millisecond count nothing. */
function durationMs(text: string): number {
  const parts = text.matchAll(/([\d.]+)(h|ms|m|s)/g);
  return [...parts].reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (unitsMs.get(unit) ?? 0), 0);
}
