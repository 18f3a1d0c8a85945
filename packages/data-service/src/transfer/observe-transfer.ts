import type { KubeObject, ReconcileContext, Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import type { PodFailures } from "setpoint/pods";
import type { AgentResult } from "../agent/request.ts";
import { hasStarted, lostTransfer, reportedResult, takenName, transferResult } from "./transfer-result.ts";

/** A transfer as its pod shows it. `missing`: nobody has seen its pod yet. */
export type SeenTransfer =
  | { readonly state: "missing" }
  | {
      readonly state: "running";
      readonly uid: string;
      readonly reason: string;
      /** When the pod was created, while none of its containers has started. */
      readonly pendingSince?: string | undefined;
    }
  | { readonly state: "ended"; readonly uid: string; readonly result: AgentResult };

/**
 * The transfer of `owner` with this pod name. A pod of another owner tells nothing about it: a Backup and a
 * Restore may have one name. `recordedUID` is that of the pod that the status names: such a pod that is
 * gone has failed, whereas one that was never recorded may not have been created. The cache may lag behind,
 * so a pod that it does not show is asked for. `failures` reports a pod that cannot say itself why it fails.
 */
export async function observeTransfer(
  name: string,
  recordedUID: string | undefined,
  object: Stored<KubeObject>,
  context: ReconcileContext,
  failures: PodFailures,
): Promise<SeenTransfer> {
  const { get, fresh } = context;
  const { uid: owner, namespace = "" } = object.metadata;
  const pod = get(Pod, name, namespace) ?? (await fresh(Pod, name, namespace));
  if (pod === undefined || (recordedUID !== undefined && pod.metadata.uid !== recordedUID))
    return recordedUID === undefined
      ? { state: "missing" }
      : { state: "ended", uid: recordedUID, result: lostTransfer(name) };
  const { uid, deletionTimestamp, creationTimestamp, ownerReferences = [] } = pod.metadata;
  if (!ownerReferences.some((each) => each.uid === owner)) return { state: "ended", uid, result: takenName(name) };
  const reported = reportedResult(pod);
  if (reported !== undefined) return { state: "ended", uid, result: reported };
  const failure = (await failures.observe(object, [pod], context)).get(name);
  const result = transferResult(pod);
  if (result !== undefined) return { state: "ended", uid, result };
  if (deletionTimestamp !== undefined) return { state: "ended", uid, result: lostTransfer(name) };
  return {
    state: "running",
    uid,
    reason: failure === undefined ? "" : ` (${failure.message})`,
    pendingSince: hasStarted(pod) ? undefined : creationTimestamp,
  };
}
