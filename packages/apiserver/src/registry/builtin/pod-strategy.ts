/**
 * Pods: which fields may change after creation, the grace period of deletion, and the QoS class.
 */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { quantityNanos } from "./canonical-quantity.ts";
import { forbidden, invalidValue } from "../field-errors.ts";
import {
  ensureObject,
  type JsonObject,
  keepField,
  numberAt,
  objectAt,
  objectsAt,
  sameJson,
  stringAt,
  valueAt,
  textOf,
} from "../json-fields.ts";
import { ephemeralContainerErrors } from "./ephemeral-container-validation.ts";
import type { KindStrategy } from "./kind-strategy.ts";
import { dropAnnotations, seccompErrors, setAppArmorProfiles } from "./pod-annotations.ts";
import { setPodDefaults } from "./pod-defaults.ts";
import { podSpecErrors } from "./pod-validation.ts";

const deadlineRange = "must be between 0 and 2147483647, inclusive";
const immutableMessage =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Guaranteed when every container has limits equal to its requests, BestEffort when none has any. */
export function qosClass(spec: JsonObject): "Guaranteed" | "Burstable" | "BestEffort" {
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const computes = ["cpu", "memory"];
  const amount = (container: JsonObject, field: string, name: string): bigint => {
    const quantity = valueAt(container, "resources", field, name) ?? undefined;
    return quantity === undefined ? 0n : (quantityNanos(textOf(quantity)) ?? 0n);
  };
  const uses = (container: JsonObject): boolean =>
    computes.some((name) => amount(container, "limits", name) > 0n || amount(container, "requests", name) > 0n);
  if (!containers.some(uses)) return "BestEffort";
  const guaranteed = (container: JsonObject): boolean =>
    computes.every((name) => {
      const limit = amount(container, "limits", name);
      return limit > 0n && limit === amount(container, "requests", name);
    });
  return containers.every(guaranteed) ? "Guaranteed" : "Burstable";
}

function prepareForCreate(pod: UnstructuredObject): void {
  const json = pod as unknown as JsonObject;
  setAppArmorProfiles(pod);
  const spec = ensureObject(json, "spec");
  const gated = objectsAt(spec, "schedulingGates").length > 0;
  json["status"] = {
    phase: "Pending",
    qosClass: qosClass(spec),
    ...(gated ? { conditions: [{ ...schedulingGatedCondition }] } : {}),
  };
}

const schedulingGatedCondition = {
  type: "PodScheduled",
  status: "False",
  reason: "SchedulingGated",
  message: "Scheduling is blocked due to non-empty scheduling gates",
  lastProbeTime: null,
  lastTransitionTime: null,
};

function prepareForUpdate(pod: UnstructuredObject, old: UnstructuredObject, subresource: string): void {
  const json = pod as unknown as JsonObject;
  const sent = objectAt(json, "spec");
  if (subresource === "ephemeralcontainers") keepAllBut(json, old, pick(sent, ["ephemeralContainers"]));
  if (subresource === "resize" && hasContainersOf(sent, old)) keepAllBut(json, old, resized(sent, old));
  if (subresource !== "status") return;
  keepField(ensureObject(json, "metadata"), old.metadata as unknown as JsonObject, "ownerReferences");
  keepField(ensureObject(json, "status"), objectAt(old, "status"), "qosClass");
}

/** A writer of some fields of the spec writes no others, and nothing besides the spec. */
function keepAllBut(pod: JsonObject, old: UnstructuredObject, changed: JsonObject): void {
  const metadata: JsonObject = { ...old.metadata };
  keepField(metadata, objectAt(pod, "metadata"), "managedFields");
  Object.assign(pod, { metadata, spec: { ...objectAt(old, "spec"), ...changed } });
}

const containerLists = ["containers", "initContainers"] as const;

/** Validation rejects containers that the pod does not have. */
function hasContainersOf(spec: JsonObject, old: UnstructuredObject): boolean {
  const names = (each: unknown): unknown => containerLists.map((list) => objectsAt(each, list).map(({ name }) => name));
  return sameJson(names(spec), names(objectAt(old, "spec")));
}

function resized(spec: JsonObject, old: UnstructuredObject): JsonObject {
  const lists = containerLists.filter((list) => objectsAt(spec, list).length > 0);
  const fields = ["resources", "resizePolicy"];
  const of = (list: string): readonly JsonObject[] => {
    const sent = objectsAt(spec, list);
    return objectsAt(old, "spec", list).map((container, index) => {
      const kept = { ...container };
      for (const field of fields) keepField(kept, sent[index] ?? {}, field);
      return kept;
    });
  };
  return Object.fromEntries(lists.map((list) => [list, of(list)]));
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.filter((field) => field in object).map((field) => [field, object[field]]));
}

/**
 * The spec with everything that may change replaced by the old values, so that what remains different is
 * forbidden.
 */
function withOldMutableFields(spec: JsonObject, old: JsonObject, subresource: string): JsonObject {
  const copy = structuredClone(spec);
  for (const list of ["containers", "initContainers"]) {
    const olds = objectsAt(old, list);
    objectsAt(copy, list).forEach((container, index) => {
      const before = olds[index];
      if (before === undefined) return;
      keepField(container, before, "image");
      if (subresource === "resize")
        for (const field of ["resources", "resizePolicy"]) keepField(container, before, field);
    });
  }
  keepField(copy, old, "activeDeadlineSeconds");
  if (onlyAddsTolerations(spec, old)) keepField(copy, old, "tolerations");
  if ((numberAt(old, "terminationGracePeriodSeconds") ?? 0) < 0 && spec["terminationGracePeriodSeconds"] === 1)
    keepField(copy, old, "terminationGracePeriodSeconds");
  if (subresource === "ephemeralcontainers") keepField(copy, old, "ephemeralContainers");
  // Gates only ever go away; while any is left the node choice may be narrowed.
  if (objectsAt(spec, "schedulingGates").length < objectsAt(old, "schedulingGates").length)
    keepField(copy, old, "schedulingGates");
  if (objectsAt(old, "schedulingGates").length > 0)
    for (const field of ["nodeSelector", "affinity"]) keepField(copy, old, field);
  return copy;
}

function onlyAddsTolerations(spec: JsonObject, old: JsonObject): boolean {
  const now = new Set(objectsAt(spec, "tolerations").map(tolerationKey));
  return objectsAt(old, "tolerations").every((before) => now.has(tolerationKey(before)));
}

/** All but how long; a set of them, because a client chooses their number. */
function tolerationKey({ key, operator, value, effect }: JsonObject): string {
  return JSON.stringify([key, operator, value, effect]);
}

function validate(
  pod: UnstructuredObject,
  old: UnstructuredObject | undefined,
  context: { readonly subresource: string },
): readonly FieldError[] {
  if (context.subresource === "status") return [];
  const spec = objectAt(pod, "spec");
  const errors = [...seccompErrors(pod), ...podSpecErrors(spec, "spec")];
  if (old === undefined) return [...errors, ...ephemeralContainerErrors(spec, undefined)];
  if (context.subresource === "binding") return errors;
  const oldSpec = objectAt(old, "spec");
  if (context.subresource === "ephemeralcontainers") errors.push(...ephemeralContainerErrors(spec, oldSpec));
  const deadline = numberAt(spec, "activeDeadlineSeconds") ?? 0;
  if (deadline < 0) return [...errors, invalidValue("spec.activeDeadlineSeconds", deadline, deadlineRange)];
  if (!sameJson(withOldMutableFields(spec, oldSpec, context.subresource), oldSpec))
    errors.push(forbidden("spec", immutableMessage));
  return errors;
}

/**
 * Nobody waits for a pod that no node runs or that has ended; otherwise the request, else the pod, says how
 * long.
 */
function deletionGraceSeconds(pod: UnstructuredObject, requested: number | undefined): number {
  const phase = stringAt(pod, "status", "phase");
  if (stringAt(pod, "spec", "nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const wanted = requested ?? numberAt(pod, "spec", "terminationGracePeriodSeconds") ?? 30;
  return wanted < 0 ? 1 : wanted;
}

export const podStrategy: KindStrategy = {
  defaults: (pod) => {
    setPodDefaults(pod);
    dropAnnotations(pod);
  },
  prepareForCreate,
  prepareForUpdate: (pod, old, context) => prepareForUpdate(pod, old, context.subresource),
  validate,
  deletionGraceSeconds,
};
