/** Reads the Events of a pod: only they say why a volume cannot be mounted. */
import { EventsV1Event as Event, type Pod } from "@setpoint/api";
import type { ReconcileContext } from "@setpoint/runtime";
import type { PolicyRule } from "../policy-rule.ts";
import type { PodEvent } from "./pod-problem.ts";

/** What an operator with `PodFailures` must be allowed. */
export const podFailureRule: PolicyRule = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["list"] };

/** A tenant may write any number of Events about a pod. */
const eventsMax = 50;

/** The warnings about this pod, the newest last. None when they cannot be read: they only help. */
export async function readPodEvents(
  { metadata: { uid, namespace } }: Pod,
  { client, signal }: Pick<ReconcileContext, "client" | "signal">,
): Promise<readonly PodEvent[]> {
  const fieldSelector = `regarding.uid=${uid ?? ""},type=Warning`;
  try {
    const { items } = await client.list(Event, { namespace: namespace ?? "", fieldSelector, limit: eventsMax, signal });
    return items
      .toSorted((a, b) => (lastSeen(a) < lastSeen(b) ? -1 : 1))
      .map(({ reason = "", note = "" }) => ({ reason, message: note }));
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/** The kubelet writes Events of the older API, whose times have other names. */
function lastSeen({ series, deprecatedLastTimestamp, eventTime, metadata }: Event): string {
  return series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}
