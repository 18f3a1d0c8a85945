/** What a mirror's status says, from its pod and its record; pure. */
import { type ConditionInit } from "setpoint";
import { failureText, type PodFailure } from "setpoint/pods";
import type { Deployment } from "setpoint/kinds";
import type { EtcdMirror } from "./etcd-mirror.ts";
import type { Missing } from "./mirror-connection.ts";
import { heartbeatMs, type MirrorRecord } from "./mirror-record.ts";

/** A pod that reaches both sides has written its record since. */
const silenceMsMax = 3 * heartbeatMs;

export interface SeenMirror {
  /** How long the record has been the same. */
  readonly silentMs: number;
  readonly missing?: Missing | undefined;
  readonly deployment?: Deployment | undefined;
  /** Why its pod does not run. */
  readonly failure?: PodFailure | undefined;
  readonly record?: MirrorRecord | undefined;
  /** Why the record could not be read. */
  readonly unread?: string | undefined;
}

export type MirrorStatus = Omit<NonNullable<EtcdMirror["status"]>, "conditions">;

/**
 * What is known stays when the record cannot be read. A record that only repeats itself keeps its date: it is
 * no reason to write a status.
 */
export function mirrorStatus({ metadata, status }: EtcdMirror, seen: SeenMirror): MirrorStatus {
  const { conditions: _conditions, ...before } = status ?? {};
  const { record } = seen;
  const common = { observedGeneration: metadata.generation, phase: readyCondition(seen).reason };
  if (record === undefined) return { ...before, ...common };
  const { revision, sourceRevision, copies, keys, at } = record;
  const lagRevisions = revision === 0 ? undefined : Math.max(0, sourceRevision - revision);
  const next = { ...common, revision, sourceRevision, lagRevisions, copies, keys };
  return { ...next, reportedAt: isNews(before, next) ? at : before.reportedAt };
}

function isNews(before: MirrorStatus, next: MirrorStatus): boolean {
  const { reportedAt: _at, ...words } = before;
  return Object.entries({ ...words, ...next }).some(([name, value]) => Object(words)[name] !== value);
}

export function readyCondition(seen: SeenMirror): ConditionInit {
  const { reason, message } = whyNotReady(seen) ?? {
    reason: "Following",
    message: `All changes up to revision ${seen.record?.revision} of the source are copied`,
  };
  return { type: "Ready", status: reason === "Following" ? "True" : "False", reason, message };
}

function whyNotReady({
  silentMs,
  missing,
  deployment,
  failure,
  record,
  unread,
}: SeenMirror): { reason: string; message: string } | undefined {
  if (missing !== undefined) return missing;
  if (unread !== undefined) return { reason: "DestinationUnreachable", message: unread };
  if (!isAvailable(deployment))
    return { reason: "PodNotReady", message: `The mirror's pod is not available${podReason(deployment, failure)}` };
  if (record === undefined) return { reason: "Starting", message: "The mirror's pod has not written its record yet" };
  if (record.problem !== undefined) return record.problem;
  if (silentMs > silenceMsMax && record.revision > 0)
    return {
      reason: "NotReporting",
      message: `The mirror's pod has not written its record in the destination since ${record.at}; its log says why`,
    };
  if (record.revision > 0) return undefined;
  return { reason: "Copying", message: "The keys of the source are copied; the destination is not complete yet" };
}

export function isAvailable(deployment: Deployment | undefined): boolean {
  return (deployment?.status?.availableReplicas ?? 0) > 0;
}

/** Its pod says it; without one, the Deployment whose pods cannot be created. */
function podReason(deployment: Deployment | undefined, failure: PodFailure | undefined): string {
  if (failure !== undefined) return `: ${failureText(failure)}`;
  const refused = deployment?.status?.conditions?.find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  return refused?.message === undefined ? "" : `: ${refused.message}`;
}
