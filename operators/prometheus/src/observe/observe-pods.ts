/** Reads the pods of a workload, and what their reloaders report. */
import type { ReconcileContext, Stored } from "setpoint";
import { matchesLabelSelector, Pod } from "setpoint/kinds";
import type { SeenPod } from "../seen/seen.ts";
import type { LoadedGateway } from "./loaded-gateway.ts";
import { isReady } from "./ready-pods.ts";

/** Those with these labels, in the order of their names. */
export async function observePods(
  labels: Readonly<Record<string, string>>,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<readonly SeenPod[]> {
  const pods = context
    .list(Pod)
    .filter((pod) => matchesLabelSelector({ matchLabels: labels }, pod.metadata.labels ?? {}));
  const sorted = pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const seen = await Promise.all(sorted.map((pod) => observePod(pod, gateway, context.signal)));
  context.signal.throwIfAborted();
  return seen;
}

async function observePod(pod: Stored<Pod>, gateway: LoadedGateway, signal: AbortSignal): Promise<SeenPod> {
  const podIP = pod.status?.podIP;
  const isAsked = podIP !== undefined && pod.metadata.deletionTimestamp === undefined;
  // One that does not answer is a fact too.
  const loaded = isAsked ? await gateway(podIP, signal).catch(() => undefined) : undefined;
  return { name: pod.metadata.name, isReady: isReady(pod), loaded };
}
