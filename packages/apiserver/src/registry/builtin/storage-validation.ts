/** Claims, volumes and storage classes. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { forbidden, invalidValue, notSupported, required } from "../field-errors.ts";
import { type JsonObject, keepField, objectAt, sameJson, stringAt, textOf, valueAt } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";

const claimImmutable =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

export function validateClaim(claim: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const errors: FieldError[] = [];
  const spec = objectAt(claim, "spec");
  if (!Array.isArray(spec["accessModes"]) || spec["accessModes"].length === 0)
    errors.push(required("spec.accessModes", "at least 1 access mode is required"));
  errors.push(...storageErrors(valueAt(spec, "resources", "requests", "storage")));
  if (old === undefined) return errors;
  const oldSpec = objectAt(old, "spec");
  const comparable = structuredClone(spec);
  // The binder writes the volume's name once, and a class may be given to a claim that had none.
  if (oldSpec["volumeName"] === undefined) keepField(comparable, oldSpec, "volumeName");
  if (oldSpec["storageClassName"] === undefined) keepField(comparable, oldSpec, "storageClassName");
  if (valueAt(old, "status", "phase") === "Bound")
    for (const field of ["resources", "volumeAttributesClassName"]) keepField(comparable, oldSpec, field);
  if (!sameJson(comparable, oldSpec)) errors.push(forbidden("spec", claimImmutable));
  return errors;
}

function storageErrors(storage: unknown): readonly FieldError[] {
  const at = "spec.resources[storage]";
  if (storage === undefined) return [required(at)];
  return isPositive(storage) ? [] : [invalidValue(at, storage, notPositive)];
}

const notPositive = "must be greater than zero";

function isPositive(quantity: unknown): boolean {
  return (quantityNanos(textOf(quantity)) ?? 0n) > 0n;
}

/** A volume has storage and no other capacity. */
function capacityErrors(capacity: JsonObject): readonly FieldError[] {
  const at = "spec.capacity";
  const names = Object.keys(capacity).sort();
  const errors: FieldError[] = names.length === 0 ? [required(at)] : [];
  const sorted = Object.fromEntries(names.map((name) => [name, capacity[name]]));
  if (names.length !== 1 || names[0] !== "storage") errors.push(notSupported(at, sorted, ["storage"]));
  for (const name of names) {
    const whole = (quantityNanos(textOf(capacity[name])) ?? 0n) / 1_000_000_000n;
    if (whole < 0n) errors.push(invalidValue(`${at}[${name}]`, Number(whole), "must be a valid resource quantity"));
    if (!isPositive(capacity[name])) errors.push(invalidValue(`${at}[${name}]`, capacity[name], notPositive));
  }
  return errors;
}

export function validateVolume(volume: UnstructuredObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const spec = objectAt(volume, "spec");
  errors.push(...capacityErrors(objectAt(spec, "capacity")));
  if (!Array.isArray(spec["accessModes"]) || spec["accessModes"].length === 0)
    errors.push(required("spec.accessModes"));
  else if (spec["accessModes"].includes("ReadWriteOncePod") && spec["accessModes"].length > 1)
    errors.push(forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes"));
  const policy = spec["persistentVolumeReclaimPolicy"];
  if (typeof policy === "string" && !["Delete", "Recycle", "Retain"].includes(policy)) {
    errors.push(notSupported("spec.persistentVolumeReclaimPolicy", policy, ["Delete", "Recycle", "Retain"]));
  }
  return [...errors, ...sourceErrors(spec)];
}

const sources =
  "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs hostPath iscsi local nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume".split(
    " ",
  );

function sourceErrors(spec: JsonObject): readonly FieldError[] {
  if (!sources.some((source) => (spec[source] ?? undefined) !== undefined))
    return [required("spec", "must specify a volume type")];
  const path = stringAt(spec, "hostPath", "path");
  const climbs = path.split("/").includes("..");
  return climbs ? [invalidValue("spec.hostPath.path", path, "must not contain '..'")] : [];
}

const reclaimPolicies = ["Delete", "Retain"];

export function validateStorageClass(
  storageClass: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  const { provisioner, reclaimPolicy } = storageClass as {
    readonly provisioner?: unknown;
    readonly reclaimPolicy?: unknown;
  };
  const errors: FieldError[] = (provisioner ?? "") === "" ? [required("provisioner")] : [];
  if (typeof reclaimPolicy === "string" && reclaimPolicy !== "" && !reclaimPolicies.includes(reclaimPolicy))
    errors.push(notSupported("reclaimPolicy", reclaimPolicy, reclaimPolicies));
  if (old !== undefined && provisioner !== old["provisioner"])
    errors.push(forbidden("provisioner", "updates to provisioner are forbidden."));
  return errors;
}
