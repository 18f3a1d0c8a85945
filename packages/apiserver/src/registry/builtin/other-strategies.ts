/** Kinds outside the core, apps, batch and RBAC groups. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { certificateStrategy } from "./certificate-strategy.ts";
import { forbidden, invalidValue, notSupported } from "../field-errors.ts";
import { objectAt, sameJson, valueAt } from "../json-fields.ts";
import { validateAutoscaler } from "./autoscaler-validation.ts";
import { requirementErrors, resourceAmountErrors } from "./resource-validation.ts";
import { validateIngress, validateNetworkPolicy } from "./network-validation.ts";
import { validateStorageClass } from "./storage-validation.ts";
import type { StrategyTable } from "./kind-strategy.ts";
import {
  setAutoscalerDefaults,
  setCsiDriverDefaults,
  setEndpointSliceDefaults,
  setNetworkPolicyDefaults,
  setPolicyBindingDefaults,
  setPolicyDefaults,
  setPriorityClassDefaults,
  setStorageClassDefaults,
  setWebhookDefaults,
} from "./other-defaults.ts";
import { amountFormErrors, shareErrors } from "./amount-validation.ts";
import {
  validateMutatingBinding,
  validateMutatingPolicy,
  validatePolicy,
  validatePolicyBinding,
  validateWebhooks,
} from "./webhook-validation.ts";

/** The fields are immutable after creation; upstream's error is Forbidden. */
function fixed(message: string, ...fields: readonly string[]) {
  return (object: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] =>
    old === undefined
      ? []
      : fields.filter((field) => !sameJson(object[field], old[field])).map((field) => forbidden(field, message));
}

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

function validateBudget(budget: UnstructuredObject): readonly FieldError[] {
  const spec = objectAt(budget, "spec");
  if (spec["minAvailable"] !== undefined && spec["maxUnavailable"] !== undefined) {
    return [invalidValue("spec", "", "minAvailable and maxUnavailable cannot be both set")];
  }
  const policy = spec["unhealthyPodEvictionPolicy"];
  const isKnown = policy === undefined || evictionPolicies.includes(String(policy));
  return [
    ...["minAvailable", "maxUnavailable"].flatMap((field) => [
      ...amountFormErrors(spec[field], `spec.${field}`),
      ...shareErrors(spec[field], `spec.${field}`),
    ]),
    ...(isKnown ? [] : [notSupported("spec.unhealthyPodEvictionPolicy", policy, evictionPolicies)]),
  ];
}

function validateLease(lease: UnstructuredObject): readonly FieldError[] {
  const seconds = valueAt(lease, "spec", "leaseDurationSeconds");
  return typeof seconds === "number" && seconds <= 0
    ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
    : [];
}

function validateRuntimeClass(runtimeClass: UnstructuredObject): readonly FieldError[] {
  return requirementErrors({ limits: valueAt(runtimeClass, "overhead", "podFixed") }, "overhead");
}

function validateStorageCapacity({ capacity }: UnstructuredObject): readonly FieldError[] {
  return capacity === undefined ? [] : resourceAmountErrors("storage", capacity, "capacity");
}

export const otherStrategies: StrategyTable = {
  "certificates.k8s.io/CertificateSigningRequest": certificateStrategy,
  "autoscaling/HorizontalPodAutoscaler": { defaults: setAutoscalerDefaults, validate: validateAutoscaler },
  "policy/PodDisruptionBudget": { validate: validateBudget },
  "coordination.k8s.io/Lease": { validate: validateLease },
  "discovery.k8s.io/EndpointSlice": { defaults: setEndpointSliceDefaults },
  "networking.k8s.io/NetworkPolicy": { defaults: setNetworkPolicyDefaults, validate: validateNetworkPolicy },
  "networking.k8s.io/Ingress": { validate: validateIngress },
  "storage.k8s.io/StorageClass": {
    defaults: setStorageClassDefaults,
    validate: validateStorageClass,
  },
  "node.k8s.io/RuntimeClass": { validate: validateRuntimeClass },
  "storage.k8s.io/CSIStorageCapacity": { validate: validateStorageCapacity },
  "storage.k8s.io/CSIDriver": { defaults: setCsiDriverDefaults },
  "scheduling.k8s.io/PriorityClass": {
    defaults: setPriorityClassDefaults,
    validate: fixed("may not be changed in an update.", "value", "preemptionPolicy"),
  },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": {
    defaults: setWebhookDefaults,
    validate: validateWebhooks,
  },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": {
    defaults: setWebhookDefaults,
    validate: validateWebhooks,
  },
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": { defaults: setPolicyDefaults, validate: validatePolicy },
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {
    defaults: setPolicyBindingDefaults,
    validate: validatePolicyBinding,
  },
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": {
    defaults: setPolicyDefaults,
    validate: validateMutatingPolicy,
  },
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": {
    defaults: setPolicyBindingDefaults,
    validate: validateMutatingBinding,
  },
};
