/** How the pod of an engine's server gets the archive of its instance; pure. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "setpoint";
import type { Pod } from "setpoint/kinds";
import { type ArchiveAccess, archiveVariable } from "../agent/request.ts";
import type { BackupStore } from "../kinds/backup-store.ts";
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

/**
 * The access of one instance to its archive in the store.
 *
 * Assumptions: `storeProblem` has been asked, and says that the store may be used.
 */
export function serverArchive({ kind, metadata }: Stored<KubeObject>, store: BackupStore): ServerArchive {
  const { name, namespace = "", uid } = metadata;
  const access: ArchiveAccess = { folder: storedFolder({ kind, name }, namespace, uid), store: storeRequest(store) };
  return {
    variable: { name: archiveVariable, value: JSON.stringify(access) },
    mounts: storeMounts(store, true),
    user: transferUser,
  };
}
