/** What a claim needs next; pure. */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@setpoint/api";
import { compareQuantities, deepEqual, matchesLabelSelector, parseQuantity } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/** Volumes of this provisioner are folders, which its node makes when a pod is there. */
export const folderProvisioner = "setpoint.dev/folder";
export const provisionedBy = "pv.kubernetes.io/provisioned-by";
const noProvisioner = "kubernetes.io/no-provisioner";

type Claim = Stored<PersistentVolumeClaim>;
type Volume = Stored<PersistentVolume>;

/** One pass's view of a claim. */
export interface SeenClaim {
  readonly claim: Claim;
  readonly volumes: readonly Volume[];
  /** Of the claim's name; undefined when there is none. */
  readonly storageClass: Stored<StorageClass> | undefined;
  /** Whether a pod names it. */
  readonly isUsed: boolean;
}

export interface ClaimNotice {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export type ClaimStep =
  | { readonly kind: "bind"; readonly volume: Volume }
  | { readonly kind: "expand"; readonly volume: Volume }
  | { readonly kind: "lose"; readonly notice: ClaimNotice }
  | { readonly kind: "wait"; readonly notice: ClaimNotice }
  | { readonly kind: "rest" };

const rest: ClaimStep = { kind: "rest" };

export function planClaim(seen: SeenClaim): ClaimStep {
  const { claim, volumes } = seen;
  const named = claim.spec?.volumeName ?? "";
  if (named !== "")
    return planNamed(
      claim,
      named,
      volumes.find(({ metadata }) => metadata.name === named),
    );
  const reserved = volumes.find((volume) => isFor(volume, claim));
  if (reserved !== undefined) return { kind: "bind", volume: reserved };
  const match = mayMatch(seen) ? smallestMatch(claim, volumes) : undefined;
  return match === undefined ? { kind: "wait", notice: whyUnbound(seen) } : { kind: "bind", volume: match };
}

function planNamed(claim: Claim, name: string, volume: Volume | undefined): ClaimStep {
  const isBound = claim.status?.phase === "Bound";
  const isLost = claim.status?.phase === "Lost";
  if (volume === undefined && isBound) return { kind: "lose", notice: lost };
  if (volume !== undefined && (volume.spec?.claimRef === undefined || isFor(volume, claim))) {
    if (isBound && volume.status?.phase === "Bound" && volume.spec?.claimRef?.uid === claim.metadata.uid)
      return isSmaller(volume, claim) ? { kind: "expand", volume } : rest;
    return { kind: "bind", volume };
  }
  if (isLost || volume === undefined) return rest;
  if (isBound) return { kind: "lose", notice: misbound };
  const message = `volume "${name}" already bound to a different claim.`;
  return { kind: "wait", notice: { type: "Warning", reason: "FailedBinding", message } };
}

const lost: ClaimNotice = {
  type: "Warning",
  reason: "ClaimLost",
  message: "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
};
const misbound: ClaimNotice = {
  type: "Warning",
  reason: "ClaimMisbound",
  message: "Two claims are bound to the same volume, this one is bound incorrectly",
};

/** Whether the volume is this claim's, or is kept for it by the author of the volume. */
export function isFor({ spec }: Volume, { metadata }: Claim): boolean {
  const { name, namespace, uid } = spec?.claimRef ?? {};
  return (
    name === metadata.name && namespace === metadata.namespace && (uid ?? metadata.uid) === metadata.uid && name !== ""
  );
}

/** A volume that the node provides grows without work: a folder has no size of its own. */
function isSmaller({ metadata, spec }: Volume, claim: Claim): boolean {
  if (metadata.annotations?.[provisionedBy] !== folderProvisioner) return false;
  const present = claim.status?.capacity?.["storage"] ?? spec?.capacity?.["storage"] ?? "0";
  return compareQuantities(parseQuantity(present), parseQuantity(requestOf(claim))) < 0;
}

function requestOf({ spec }: PersistentVolumeClaim): string {
  return spec?.resources?.requests?.["storage"] ?? "0";
}

/** A class that waits for a consumer keeps its volumes until the pod's node is known. */
function mayMatch({ storageClass, isUsed }: SeenClaim): boolean {
  if (storageClass?.provisioner === folderProvisioner) return false;
  return storageClass?.volumeBindingMode !== "WaitForFirstConsumer" || isUsed;
}

function smallestMatch(claim: Claim, volumes: readonly Volume[]): Volume | undefined {
  const sizeOf = (volume: Volume) => parseQuantity(volume.spec?.capacity?.["storage"] ?? "0");
  return volumes
    .filter((volume) => matches(volume, claim))
    .toSorted((a, b) => compareQuantities(sizeOf(a), sizeOf(b)))[0];
}

function matches({ metadata, spec }: Volume, claim: Claim): boolean {
  const wanted = claim.spec ?? {};
  if (metadata.deletionTimestamp !== undefined || spec?.claimRef !== undefined) return false;
  if ((spec?.storageClassName ?? "") !== (wanted.storageClassName ?? "")) return false;
  if ((spec?.volumeMode ?? "Filesystem") !== (wanted.volumeMode ?? "Filesystem")) return false;
  if (wanted.selector !== undefined && !matchesLabelSelector(wanted.selector, metadata.labels ?? {})) return false;
  const modes: readonly string[] = spec?.accessModes ?? [];
  if (!(wanted.accessModes ?? []).every((mode) => modes.includes(mode))) return false;
  return compareQuantities(parseQuantity(spec?.capacity?.["storage"] ?? "0"), parseQuantity(requestOf(claim))) >= 0;
}

const noVolume: ClaimNotice = {
  type: "Normal",
  reason: "FailedBinding",
  message: "no persistent volumes available for this claim and no storage class is set",
};

function whyUnbound({ claim, storageClass, isUsed }: SeenClaim): ClaimNotice {
  const name = claim.spec?.storageClassName ?? "";
  if (name === "") return noVolume;
  if (storageClass === undefined) {
    const message = `storageclass.storage.k8s.io "${name}" not found`;
    return { type: "Warning", reason: "ProvisioningFailed", message };
  }
  const { provisioner } = storageClass;
  const waits = storageClass.volumeBindingMode === "WaitForFirstConsumer" || provisioner === folderProvisioner;
  const first = "waiting for first consumer to be created before binding";
  if (waits && !isUsed) return { type: "Normal", reason: "WaitForFirstConsumer", message: first };
  if (provisioner === folderProvisioner) {
    const message = "waiting for the node of the pod that uses this claim to provide its volume";
    return { type: "Normal", reason: "WaitForPodScheduled", message };
  }
  if (provisioner === noProvisioner) return noVolume;
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return { type: "Normal", reason: "ExternalProvisioning", message };
}

/** The status of a bound claim. */
export function boundStatus({ spec }: Volume): object {
  return { phase: "Bound", accessModes: spec?.accessModes ?? [], capacity: spec?.capacity ?? {} };
}

/** Whether a status has all these fields already. */
export function hasStatus(status: object | undefined, wanted: object): boolean {
  return deepEqual({ ...status, ...wanted }, status);
}
