/** How a transfer pod reaches a BackupStore: what its request says, and what it mounts. */
import type { Pod } from "setpoint/kinds";
import { agentPaths, type StoreRequest } from "../agent/request.ts";
import type { BackupStore } from "../kinds/backup-store.ts";

type PodSpec = NonNullable<Pod["spec"]>;

/** One volume of a pod, and where its container finds it. */
export interface Mount {
  readonly volume: NonNullable<PodSpec["volumes"]>[number];
  readonly path: string;
  readonly readOnly: boolean;
}

/** The store as the agent gets it: without secrets. */
export function storeRequest({ spec }: BackupStore): StoreRequest {
  const activeKey = spec.encryption?.activeKey;
  return { ...placeOf(spec), ...(activeKey === undefined ? {} : { activeKey }) };
}

function placeOf({ claim, s3, gcs, azure }: BackupStore["spec"]): Pick<StoreRequest, "place" | "prefix"> {
  if (s3 !== undefined) {
    const { bucket, endpoint, region, prefix } = s3;
    return { prefix, place: { type: "s3", bucket, region, ...(endpoint === undefined ? {} : { endpoint }) } };
  }
  if (gcs !== undefined) {
    const { bucket, endpoint, prefix } = gcs;
    return { prefix, place: { type: "gcs", bucket, ...(endpoint === undefined ? {} : { endpoint }) } };
  }
  if (azure !== undefined) {
    const { container, endpoint, prefix } = azure;
    return { prefix, place: { type: "azure", container, endpoint } };
  }
  return { prefix: claim?.prefix ?? "", place: { type: "folder", folder: agentPaths.storeClaim } };
}

/** The claim or the Secrets of a store. Only a pod that writes mounts the claim for writing. */
export function storeMounts({ spec }: BackupStore, writes: boolean): readonly Mount[] {
  const { claim, encryption } = spec;
  const credentials = (spec.s3 ?? spec.gcs ?? spec.azure)?.credentialsSecret;
  const mounts: Mount[] = [];
  if (claim !== undefined) mounts.push(claimMount("store", claim.claimName, agentPaths.storeClaim, !writes));
  if (credentials !== undefined) mounts.push(secretMount("store", credentials, agentPaths.storeSecret));
  if (encryption !== undefined)
    mounts.push(secretMount("encryption", encryption.keySecret, agentPaths.encryptionSecret));
  return mounts;
}

export function secretMount(name: string, secretName: string, path: string): Mount {
  return { volume: { name, secret: { secretName, defaultMode: 0o440 } }, path, readOnly: true };
}

/** The files of all these Secrets in one folder. */
export function secretsMount(name: string, secretNames: readonly string[], path: string): Mount {
  const [only, ...others] = secretNames;
  if (only !== undefined && others.length === 0) return secretMount(name, only, path);
  const sources = secretNames.map((secret) => ({ secret: { name: secret } }));
  return { volume: { name, projected: { sources, defaultMode: 0o440 } }, path, readOnly: true };
}

export function claimMount(name: string, claimName: string, path: string, readOnly: boolean): Mount {
  return { volume: { name, persistentVolumeClaim: { claimName } }, path, readOnly };
}
