/** Claims and volumes: sets the default class, and the finalizers that protect claims and volumes in use. */
import { ensureObject, type JsonObject } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";

const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";
const betaDefaultClassAnnotation = "storageclass.beta.kubernetes.io/is-default-class";
const claimFinalizer = "kubernetes.io/pvc-protection";
const volumeFinalizer = "kubernetes.io/pv-protection";

function creates(request: AdmissionRequest, resource: string): boolean {
  const { definition } = request;
  return (
    request.operation === "CREATE" &&
    definition.group === "" &&
    definition.resource === resource &&
    request.subresource === ""
  );
}

/** Gives claims without a class the newest of the classes marked as default. */
export const defaultStorageClass: AdmissionPlugin = {
  name: "DefaultStorageClass",
  async admit(request) {
    if (!creates(request, "persistentvolumeclaims") || request.object === undefined) return;
    const spec = ensureObject(request.object as unknown as JsonObject, "spec");
    // An empty name is a wish (no class at all), only absence is a gap.
    if (spec["storageClassName"] !== undefined) return;
    const defaults = request.reader
      .list("storage.k8s.io", "storageclasses")
      .filter(
        ({ metadata }) =>
          metadata.annotations?.[defaultClassAnnotation] === "true" ||
          metadata.annotations?.[betaDefaultClassAnnotation] === "true",
      );
    const age = (each: (typeof defaults)[number]): string => each.metadata.creationTimestamp ?? "";
    const newest = defaults.toSorted(
      (left, right) =>
        age(right).localeCompare(age(left)) || (left.metadata.name ?? "").localeCompare(right.metadata.name ?? ""),
    )[0];
    if (newest !== undefined) spec["storageClassName"] = newest.metadata.name;
  },
};

function addFinalizer(request: AdmissionRequest, finalizer: string): void {
  const metadata = ensureObject(request.object as unknown as JsonObject, "metadata");
  const present = request.object?.metadata.finalizers ?? [];
  if (!present.includes(finalizer)) metadata["finalizers"] = [...present, finalizer];
}

/**
 * Protects claims that pods use, and volumes that claims use, until their controllers remove the finalizers.
 */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  async admit(request) {
    if (request.object === undefined) return;
    if (creates(request, "persistentvolumeclaims")) addFinalizer(request, claimFinalizer);
    if (creates(request, "persistentvolumes")) addFinalizer(request, volumeFinalizer);
  },
};

/** A new node takes no pods before it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  async admit(request) {
    if (!creates(request, "nodes") || request.object === undefined) return;
    const spec = ensureObject(request.object as unknown as JsonObject, "spec");
    const taints: readonly unknown[] = Array.isArray(spec["taints"]) ? spec["taints"] : [];
    const key = "node.kubernetes.io/not-ready";
    const has = taints.some(
      (each) => (each as JsonObject)["key"] === key && (each as JsonObject)["effect"] === "NoSchedule",
    );
    if (!has) spec["taints"] = [...taints, { key, effect: "NoSchedule" }];
  },
};
