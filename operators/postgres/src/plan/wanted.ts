/** The document for the instances, and the labels of their pods; pure. */
import { cleanStopMs, type DesiredInstance, leaseMarginMs, leaseMs } from "../instance/instance-protocol.ts";
import { desiredInstance } from "../kind/desired.ts";
import { labels } from "../kind/labels.ts";
import { type InstanceRole } from "../kind/names.ts";
import { denialOf, isDenied } from "../seen/matters.ts";
import { lastingMs } from "../seen/memory.ts";
import {
  acceptsWrites,
  instanceNamed,
  isStandby,
  isStreaming,
  podState,
  type Seen,
  type SeenInstance,
} from "../seen/seen.ts";
import { fencingOf } from "./fencing.ts";
import { wantedUpgrade } from "./upgrade/wanted-upgrade.ts";
import { callMsMax } from "./postgres-step.ts";

/** After so long without consent a primary has stopped by its own clock. */
export const leaseOverMs: number = leaseMs + callMsMax + leaseMarginMs;

/** Whether the instance whose place is taken is known to accept no writes any more. */
export function isFormerStopped(seen: Seen): boolean {
  const { formerPrimary, term = 0 } = seen.cluster.status ?? {};
  if (formerPrimary === undefined) return true;
  const former = instanceNamed(seen, formerPrimary);
  const { report } = former ?? {};
  // A server that is no primary yet proves nothing: its promotion may be under way.
  if (report !== undefined && report.term >= term && report.server === "stopped") return true;
  // The kubelet saw its process end, and a new one gets no lease: a majority has answered that it gives none.
  if (podState(former?.pod) === "ended" && isDenied(seen.cluster, seen.instances, seen.memory, "answered")) return true;
  const deniedMs = lastingMs(seen.memory, denialOf(term), seen.monotonicMs) ?? 0;
  // It hands the rest of its log over; to promote now would lose that.
  const isHandingOver = report?.server === "stopping" && report.term >= term;
  return deniedMs >= (isHandingOver ? cleanStopMs : leaseOverMs);
}

export function wantedDocument(seen: Seen): DesiredInstance {
  return desiredInstance(seen.cluster, {
    names: seen.instances.map(({ name }) => name),
    replicas: seen.instances.filter(isStreaming).map(({ name }) => name),
    mayPromote: isFormerStopped(seen),
    fenced: fencingOf(seen).fenced,
    upgrade: wantedUpgrade(seen),
    dropsSafetyCopy: seen.isSafetyCopyOver === true,
  });
}

/** Services find an instance by them. */
export function wantedLabels(seen: Seen, instance: SeenInstance): Readonly<Record<string, string>> {
  return {
    [labels.cluster]: seen.cluster.metadata.name ?? "",
    [labels.instance]: instance.name,
    [labels.role]: wantedRole(seen, instance),
  };
}

/**
 * Between two primaries there is none, and clients wait at the Service. One answer that is missing takes an
 * instance out of no Service; its readiness does when it goes on.
 */
export function wantedRole(seen: Seen, instance: SeenInstance): InstanceRole {
  const isPrimary = instance.name === seen.cluster.status?.primary;
  const label = instance.pod?.metadata.labels?.[labels.role];
  if (isStandby(instance)) return "replica";
  if (instance.report === undefined) return label === "primary" && !isPrimary ? "none" : roleOf(label);
  return isPrimary && acceptsWrites(instance) ? "primary" : "none";
}

function roleOf(label: string | undefined): InstanceRole {
  return label === "primary" || label === "replica" ? label : "none";
}
