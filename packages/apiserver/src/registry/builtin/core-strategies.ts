/** The core group. */
import { timestamp } from "@setpoint/host";
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { setClaimDefaults, setVolumeDefaults } from "./claim-defaults.ts";
import { forbidden, invalidValue, notSupported, required } from "../field-errors.ts";
import {
  ensureObject,
  fillDefaults,
  type JsonObject,
  keepField,
  objectAt,
  sameJson,
  textOf,
  valueAt,
} from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";
import { validateLimitRange } from "./limit-range-validation.ts";
import { validateQuota } from "./quota-validation.ts";
import { resourceAmountErrors } from "./resource-validation.ts";
import type { StrategyTable } from "./kind-strategy.ts";
import {
  setEndpointsDefaults,
  setLimitRangeDefaults,
  setNamespaceDefaults,
  setNodeDefaults,
  setSecretDefaults,
} from "./other-defaults.ts";
import { setPodTemplateDefaults } from "./pod-defaults.ts";
import { podStrategy } from "./pod-strategy.ts";
import { podSpecErrors } from "./pod-validation.ts";
import { serviceStrategy } from "./service-strategy.ts";
import { validateConfigMap, validateSecret } from "./data-validation.ts";
import { setReplicationControllerDefaults } from "./workload-defaults.ts";

const claimImmutable =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

function validateClaim(claim: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
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

function validateNode(node: UnstructuredObject): readonly FieldError[] {
  return ["capacity", "allocatable"].flatMap((field) =>
    Object.entries(objectAt(node, "status", field)).flatMap(([name, value]) =>
      resourceAmountErrors(name, value, `status.${field}.${name}`),
    ),
  );
}

function validateVolume(volume: UnstructuredObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const spec = objectAt(volume, "spec");
  errors.push(...capacityErrors(objectAt(spec, "capacity")));
  if (!Array.isArray(spec["accessModes"]) || spec["accessModes"].length === 0)
    errors.push(required("spec.accessModes"));
  const policy = spec["persistentVolumeReclaimPolicy"];
  if (typeof policy === "string" && !["Delete", "Recycle", "Retain"].includes(policy)) {
    errors.push(notSupported("spec.persistentVolumeReclaimPolicy", policy, ["Delete", "Recycle", "Retain"]));
  }
  return errors;
}

function prepareNamespace(namespace: UnstructuredObject): void {
  const json = namespace as unknown as JsonObject;
  json["status"] = { phase: "Active" };
  const spec = ensureObject(json, "spec");
  const finalizers = Array.isArray(spec["finalizers"]) ? spec["finalizers"] : [];
  if (!finalizers.includes("kubernetes")) spec["finalizers"] = [...finalizers, "kubernetes"];
  setNamespaceDefaults(json);
}

/** Only the finalize subresource may take finalizers from a namespace's spec. */
function prepareNamespaceUpdate(namespace: UnstructuredObject, old: UnstructuredObject, subresource: string): void {
  const json = namespace as unknown as JsonObject;
  if (subresource !== "finalize") keepField(json, old as unknown as JsonObject, "spec");
  if (subresource !== "status") keepField(json, old as unknown as JsonObject, "status");
}

/** The phase follows from the deletionTimestamp. */
function validateNamespace(
  namespace: UnstructuredObject,
  old: UnstructuredObject | undefined,
  { subresource }: { readonly subresource: string },
): readonly FieldError[] {
  if (old === undefined || subresource !== "status") return [];
  const phase = valueAt(namespace, "status", "phase");
  const [wanted, when] =
    namespace.metadata.deletionTimestamp === undefined ? ["Active", "empty"] : ["Terminating", "not empty"];
  if (phase === wanted) return [];
  return [invalidValue("status.Phase", phase ?? "", `may only be '${wanted}' if \`deletionTimestamp\` is ${when}`)];
}

function namespaceHasFinalizers(namespace: UnstructuredObject): boolean {
  const finalizers = valueAt(namespace, "spec", "finalizers");
  return Array.isArray(finalizers) && finalizers.length > 0;
}

export const coreStrategies: StrategyTable = {
  "/Pod": podStrategy,
  "/Service": serviceStrategy,
  "/PodTemplate": {
    defaults: (object) => setPodTemplateDefaults(ensureObject(object, "template")),
    validate: (template) => podSpecErrors(objectAt(template, "template", "spec"), "template.spec"),
  },
  "/ReplicationController": {
    defaults: setReplicationControllerDefaults,
    validate: (controller) => podSpecErrors(objectAt(controller, "spec", "template", "spec"), "spec.template.spec"),
    defaultPropagation: "Orphan",
  },
  "/ConfigMap": { validate: validateConfigMap },
  "/Secret": { defaults: setSecretDefaults, validate: validateSecret },
  "/Namespace": {
    nameRule: "label",
    defaults: setNamespaceDefaults,
    prepareForCreate: prepareNamespace,
    prepareForUpdate: (namespace, old, context) => prepareNamespaceUpdate(namespace, old, context.subresource),
    validate: validateNamespace,
    onMarkedDeleted: (namespace) => fillPhase(namespace, "Terminating"),
    hasOtherFinalizers: namespaceHasFinalizers,
  },
  "/PersistentVolumeClaim": {
    defaults: setClaimDefaults,
    prepareForCreate: (claim) => fillPhase(claim, "Pending"),
    validate: validateClaim,
  },
  "/PersistentVolume": {
    defaults: setVolumeDefaults,
    prepareForCreate: (volume, context) => {
      fillPhase(volume, "Pending");
      fillDefaults(ensureObject(volume as unknown as JsonObject, "status"), {
        lastPhaseTransitionTime: timestamp(context.clock),
      });
    },
    validate: validateVolume,
  },
  "/Endpoints": { defaults: setEndpointsDefaults },
  "/LimitRange": { defaults: setLimitRangeDefaults, validate: validateLimitRange },
  "/ResourceQuota": { validate: validateQuota },
  "/Node": { createsStatus: true, defaults: setNodeDefaults, validate: validateNode },
};

/**
 * Replaces the status instead of changing it: on deletion the rest of the object is still the store's, and
 * frozen.
 */
function fillPhase(object: UnstructuredObject, phase: string): void {
  const json = object as unknown as JsonObject;
  json["status"] = { ...objectAt(json, "status"), phase };
}
