/** Workloads of the apps group: selectors never change and must match the template's labels. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { forbidden, immutableDetail, invalidValue } from "../field-errors.ts";
import { ensureObject, type JsonObject, keepField, objectAt, sameJson, valueAt } from "../json-fields.ts";
import type { StrategyTable } from "./kind-strategy.ts";
import { daemonSetRolloutErrors, deploymentRolloutErrors, statefulSetPolicyErrors } from "./rollout-validation.ts";
import { selectorErrors, workloadErrors } from "./workload-validation.ts";
import {
  setDaemonSetDefaults,
  setDeploymentDefaults,
  setReplicaSetDefaults,
  setStatefulSetDefaults,
} from "./workload-defaults.ts";

const statefulSetMutable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const statefulSetMessage =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const templateGeneration = "deprecated.daemonset.template.generation";

function validate(workload: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  return [...workloadErrors(workload), ...selectorErrors(workload, old)];
}

/** Upstream looks at the selector of a DaemonSet in another order, and does not ask for one. */
function validateDaemonSet(daemonSet: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  return [...selectorErrors(daemonSet, old), ...workloadErrors(daemonSet), ...daemonSetRolloutErrors(daemonSet)];
}

function validateDeployment(
  deployment: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  return [...validate(deployment, old), ...deploymentRolloutErrors(deployment)];
}

function validateStatefulSet(
  statefulSet: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  const errors = [...statefulSetPolicyErrors(statefulSet), ...workloadErrors(statefulSet)];
  if (old === undefined) return errors;
  const spec = objectAt(statefulSet, "spec");
  const oldSpec = objectAt(old, "spec");
  const fields = new Set([...Object.keys(spec), ...Object.keys(oldSpec)]);
  const changed = [...fields].some(
    (field) => !statefulSetMutable.includes(field) && !sameJson(spec[field], oldSpec[field]),
  );
  if (changed) errors.push(forbidden("spec", statefulSetMessage));
  return errors;
}

/**
 * The generation of a DaemonSet's template, from the times before ControllerRevisions; clients still see it.
 */
function prepareDaemonSet(daemonSet: UnstructuredObject, old?: UnstructuredObject): void {
  const annotations = ensureObject(ensureObject(daemonSet as unknown as JsonObject, "metadata"), "annotations");
  const before = Number(old?.metadata.annotations?.[templateGeneration] ?? "0");
  const changed =
    old === undefined || !sameJson(valueAt(daemonSet, "spec", "template"), valueAt(old, "spec", "template"));
  annotations[templateGeneration] = String(changed ? before + 1 : before);
}

/** Labels of a Deployment are not the status writer's to change. */
function prepareDeploymentUpdate(deployment: UnstructuredObject, old: UnstructuredObject, subresource: string): void {
  if (subresource !== "status") return;
  keepField(
    ensureObject(deployment as unknown as JsonObject, "metadata"),
    old.metadata as unknown as JsonObject,
    "labels",
  );
}

export const appsStrategies: StrategyTable = {
  "apps/Deployment": {
    defaults: setDeploymentDefaults,
    validate: validateDeployment,
    prepareForUpdate: (deployment, old, context) => prepareDeploymentUpdate(deployment, old, context.subresource),
    statusKeepsLabels: true,
    countsToo: (deployment, old) => !sameJson(deployment.metadata.annotations, old.metadata.annotations),
  },
  "apps/ReplicaSet": { defaults: setReplicaSetDefaults, validate },
  "apps/StatefulSet": { defaults: setStatefulSetDefaults, validate: validateStatefulSet },
  "apps/DaemonSet": {
    defaults: setDaemonSetDefaults,
    validate: validateDaemonSet,
    prepareForCreate: (daemonSet) => prepareDaemonSet(daemonSet),
    prepareForUpdate: (daemonSet, old, context) => {
      if (context.subresource === "") prepareDaemonSet(daemonSet, old);
    },
  },
  "apps/ControllerRevision": {
    validate: (revision, old) =>
      old !== undefined && !sameJson(revision["data"], old["data"]) ? [invalidValue("data", "", immutableDetail)] : [],
  },
};
