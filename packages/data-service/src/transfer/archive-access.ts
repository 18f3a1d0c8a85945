/** How the pod of an engine's server gets the archive of its instance. */
import type { KubeObject } from "@setpoint/apimachinery";
import { keyOf, type KindRef, type ReconcileContext, type Stored, watching } from "setpoint";
import type { Pod } from "setpoint/kinds";
import { type ArchiveAccess, archiveVariable } from "../agent/request.ts";
import { storeProblem } from "../engine/store-consent.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { storedFolder } from "../kinds/instance.ts";
import { type Mount, storeMounts, storeRequest } from "./store-mounts.ts";
import { transferUser } from "./transfer-pod.ts";

type Variable = NonNullable<NonNullable<Pod["spec"]>["containers"][number]["env"]>[number];

/** What the container that stores segments has besides its own; `openLogArchive` reads it there. */
export interface ServerArchive {
  readonly variable: Variable;
  readonly mounts: readonly Mount[];
  /** The user who owns the files of a store of kind `claim`, and should store the segments. */
  readonly user: number;
}

/** The archive of an instance, or why its store is not used; neither when the instance names no store. */
export type SeenArchive =
  | { readonly archive?: ServerArchive | undefined; readonly storeRefusal?: undefined }
  | { readonly archive?: undefined; readonly storeRefusal: string };

/** For the `watches` of an instance's controller: BackupStores wake the instances that name them. */
export function watchStores<Instance extends KubeObject>(
  kind: KindRef<Instance>,
  storeName: (instance: Stored<Instance>) => string | undefined,
): ReturnType<typeof watching<BackupStore>> {
  return watching(BackupStore, ({ metadata: { name, namespace } }, cache) =>
    cache
      .list(kind, { namespace })
      .filter((instance) => storeName(instance) === name)
      .map(keyOf),
  );
}

/**
 * The access of an instance to its archive in the BackupStore of this name.
 *
 * Caveats: it reads the claim or the Secret of the store from the server. Call it just before a pod gets
 * them, and not in every reconcile.
 */
export async function observeArchive(
  instance: Stored<KubeObject>,
  storeName: string | undefined,
  context: ReconcileContext,
): Promise<SeenArchive> {
  if (storeName === undefined) return { archive: undefined };
  const store = context.get(BackupStore, storeName, instance.metadata.namespace);
  if (store === undefined) return { storeRefusal: `BackupStore "${storeName}" does not exist` };
  const problem = await storeProblem(store, context);
  return problem === undefined ? { archive: serverArchive(instance, store) } : { storeRefusal: problem.message };
}

function serverArchive({ kind, metadata }: Stored<KubeObject>, store: BackupStore): ServerArchive {
  const { name, namespace = "", uid } = metadata;
  const access: ArchiveAccess = { folder: storedFolder({ kind, name }, namespace, uid), store: storeRequest(store) };
  return {
    variable: { name: archiveVariable, value: JSON.stringify(access) },
    mounts: storeMounts(store, true),
    user: transferUser,
  };
}
