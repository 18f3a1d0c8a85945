/** The core group. */
import { timestamp } from "@setpoint/host";
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { setClaimDefaults, setVolumeDefaults } from "./claim-defaults.ts";
import { invalidValue, required } from "../field-errors.ts";
import { ensureObject, fillDefaults, type JsonObject, keepField, objectAt, stringAt, valueAt } from "../json-fields.ts";
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
import { labelMismatch, negativeErrors, restartErrors } from "./workload-validation.ts";
import { validateClaim, validateVolume } from "./storage-validation.ts";
import { validateConfigMap, validateSecret } from "./data-validation.ts";
import { setReplicationControllerDefaults } from "./workload-defaults.ts";

function validateNode(node: UnstructuredObject): readonly FieldError[] {
  return ["capacity", "allocatable"].flatMap((field) =>
    Object.entries(objectAt(node, "status", field)).flatMap(([name, value]) =>
      resourceAmountErrors(name, value, `status.${field}.${name}`),
    ),
  );
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

function validateReplicationController(controller: UnstructuredObject): readonly FieldError[] {
  const { selector, template, minReadySeconds, replicas } = objectAt(controller, "spec");
  const isEmpty = Object.keys(objectAt(selector)).length === 0;
  const errors: FieldError[] = [
    ...negativeErrors(minReadySeconds, "spec.minReadySeconds"),
    ...(isEmpty ? [required("spec.selector")] : []),
    ...negativeErrors(replicas, "spec.replicas"),
  ];
  if (template === undefined) return [...errors, required("spec.template")];
  return [
    ...errors,
    ...(isEmpty ? [] : labelMismatch({ matchLabels: selector }, template)),
    ...podSpecErrors(objectAt(template, "spec"), "spec.template.spec"),
    ...restartErrors(stringAt(template, "spec", "restartPolicy")),
  ];
}

/** An event stands beside what it is about; that of no namespace is in the default one. */
function validateEvent({ metadata, ...event }: UnstructuredObject): readonly FieldError[] {
  const namespace = stringAt(event, "involvedObject", "namespace");
  const isBeside = namespace === "" ? metadata.namespace === "default" : namespace === metadata.namespace;
  return isBeside ? [] : [invalidValue("involvedObject.namespace", namespace, "does not match event.namespace")];
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
    validate: validateReplicationController,
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
  "/Event": { validate: validateEvent },
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
