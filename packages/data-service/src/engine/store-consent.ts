/** Whether the claim or the Secrets of a BackupStore may be used, and for whose data. */
import type { ReconcileContext } from "setpoint";
import { PersistentVolumeClaim, Secret } from "setpoint/kinds";
import type { BackupStore } from "../kinds/backup-store.ts";
import { claimProblem, type ConsentProblem, secretProblem, type UseName } from "./consent.ts";

/** The name and the UID of the instance, and the UID of the Backup. */
const partsAfterNamespace = 3;

/**
 * Why a BackupStore is not used; undefined when it may be. It reads what the store names from the server,
 * just before a pod gets it.
 */
export async function storeProblem(
  { metadata, spec }: BackupStore,
  context: Pick<ReconcileContext, "fresh">,
): Promise<ConsentProblem | undefined> {
  const { namespace = "" } = metadata;
  const place = await placeProblem("backupStore", { metadata, spec }, context);
  if (place !== undefined || spec.encryption === undefined) return place;
  const key = { name: spec.encryption.keySecret, namespace };
  return secretProblem("backupStore", key, await context.fresh(Secret, key.name, namespace));
}

/**
 * Why a path of the store is not read; undefined when it may be. The second part of a path is the namespace
 * of the Backup. A bucket that several namespaces share holds the data of all of them. A path has all its
 * parts: the prefix of a store is its author's, who could move one of them there, and the name of an instance
 * would count as the namespace.
 */
export async function pathProblem(
  store: BackupStore,
  path: string,
  context: Pick<ReconcileContext, "fresh">,
): Promise<ConsentProblem | undefined> {
  const [, namespace, ...rest] = path.split("/");
  const isOwn = namespace === (store.metadata.namespace ?? "") && rest.length === partsAfterNamespace;
  return isOwn ? undefined : placeProblem("otherNamespaces", store, context);
}

/** By what gives access to the data: the claim, or the credentials. */
async function placeProblem(
  use: UseName,
  { metadata: { namespace = "" }, spec }: Pick<BackupStore, "metadata" | "spec">,
  { fresh }: Pick<ReconcileContext, "fresh">,
): Promise<ConsentProblem | undefined> {
  if (spec.claim !== undefined) {
    const name = spec.claim.claimName;
    return claimProblem(use, { name, namespace }, await fresh(PersistentVolumeClaim, name, namespace));
  }
  const name = (spec.s3 ?? spec.gcs ?? spec.azure)?.credentialsSecret ?? "";
  return secretProblem(use, { name, namespace }, await fresh(Secret, name, namespace));
}
