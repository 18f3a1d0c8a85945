/** Deletes what a Backup has stored before the Backup goes. */
import type { ReconcileContext, Result, Stored } from "setpoint";
import { seconds } from "setpoint";
import { Pod } from "setpoint/kinds";
import { storeProblem } from "../engine/store-consent.ts";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { transferName } from "../transfer/attempt.ts";
import { deletePods, isNamespaceEnding } from "../transfer/delete-pods.ts";
import { storeRequest } from "../transfer/store-mounts.ts";
import { transferPod } from "../transfer/transfer-pod.ts";
import { endedAtMs, hasStarted, podReason, transferResult } from "../transfer/transfer-result.ts";

const checkMs = seconds(5);
const retryMs = seconds(30);
const deleteDeadlineSeconds = 600;

/** What a deletion needs. */
interface Deletion {
  readonly backup: Stored<Backup>;
  readonly object: string;
  readonly store: BackupStore;
  readonly engine: string;
  readonly image: string;
}

/** Runs until the data are deleted, or until it is sure that they stay. */
export async function deleteStored(
  backup: Stored<Backup>,
  context: ReconcileContext,
  engine: string,
  image: string | undefined,
): Promise<Result | void> {
  const { name, namespace = "" } = backup.metadata;
  const running = context.children
    .list(Pod)
    .filter((pod) => transferResult(pod) === undefined && !isDeletion(pod, name));
  await deletePods(running, context);
  const { object } = (await context.fresh(Backup, name, namespace))?.status ?? {};
  if (backup.spec.deletionPolicy === "Retain" || object === undefined) return;
  const store = context.get(BackupStore, backup.spec.store, namespace);
  if (store === undefined)
    return retained(context, `BackupStore "${backup.spec.store}" does not exist, so ${object} stays in the store`);
  if (running.length > 0) return context.requeueAfter(checkMs, "transfer pods are stopping");
  if (image === undefined || image === "")
    return context.requeueAfter(
      retryMs,
      "the operator does not know its own image; set SETPOINT_OPERATOR_IMAGE, or set deletionPolicy Retain to keep the stored data",
    );
  const problem = await storeProblem(store, context);
  if (problem !== undefined)
    return context.requeueAfter(retryMs, `${problem.message}; or set deletionPolicy Retain to keep the stored data`);
  return deleteByPod({ backup, object, store, engine, image }, context);
}

function isDeletion({ metadata }: Pod, backup: string): boolean {
  return metadata.name?.startsWith(`${backup}-delete-`) ?? false;
}

function retained({ event }: ReconcileContext, message: string): void {
  event("Warning", "DataRetained", message);
}

/** Each attempt is a pod of its own number, and the pods are the record of the attempts. */
async function deleteByPod(deletion: Deletion, context: ReconcileContext): Promise<Result | void> {
  const { name, namespace } = deletion.backup.metadata;
  let attempt = 1;
  let pod = context.get(Pod, transferName(name, "delete", attempt), namespace);
  while (pod !== undefined) {
    const result = transferResult(pod);
    if (result === undefined)
      return context.requeueAfter(checkMs, `deleting ${deletion.object} from the store${pendingOf(pod)}`);
    if (result.outcome === "done") return;
    const leftMs = (endedAtMs(pod) ?? 0) + retryMs * attempt - context.host.clock.now();
    attempt++;
    pod = context.get(Pod, transferName(name, "delete", attempt), namespace);
    const why = `deleting ${deletion.object} failed (${result.reason}: ${result.message})`;
    if (pod === undefined && leftMs > 0) return context.requeueAfter(leftMs, why);
  }
  return start(deletion, transferName(name, "delete", attempt), context);
}

/** It may lack something for ever, such as the claim of the store. */
function pendingOf(pod: Stored<Pod>): string {
  if (hasStarted(pod)) return "";
  const name = `pod "${pod.metadata.name}"`;
  return `: ${name} has not started${podReason(pod)}; deletionPolicy Retain deletes the Backup alone`;
}

async function start(
  { backup, object, store, engine, image }: Deletion,
  name: string,
  context: ReconcileContext,
): Promise<Result | void> {
  const { namespace = "" } = backup.metadata;
  const request = { task: "delete" as const, engine, store: storeRequest(store), object };
  const transfer = { name, namespace, owner: "backup", request, store, image, deadlineSeconds: deleteDeadlineSeconds };
  try {
    await context.create(transferPod(transfer));
  } catch (error) {
    if (!isNamespaceEnding(error)) throw error;
    return retained(context, `the namespace is being deleted, so ${object} stays in the store`);
  }
  return context.requeueAfter(checkMs, `deleting ${object} from the store`);
}
