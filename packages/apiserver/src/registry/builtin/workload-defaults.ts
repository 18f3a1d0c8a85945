/**
 * The defaults of workloads: Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, Job and
 * CronJob.
 */
import { setClaimDefaults } from "./claim-defaults.ts";
import { ensureObject, fillDefaults, isJsonObject, type JsonObject, objectAt, objectsAt } from "../json-fields.ts";
import { setPodTemplateDefaults } from "./pod-defaults.ts";

export function setDeploymentDefaults(deployment: JsonObject): void {
  const spec = ensureObject(deployment, "spec");
  fillDefaults(spec, { replicas: 1, progressDeadlineSeconds: 600, revisionHistoryLimit: 10 });
  const strategy = ensureObject(spec, "strategy");
  fillDefaults(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate")
    fillDefaults(ensureObject(strategy, "rollingUpdate"), { maxSurge: "25%", maxUnavailable: "25%" });
  setPodTemplateDefaults(ensureObject(spec, "template"));
}

export function setReplicaSetDefaults(replicaSet: JsonObject): void {
  const spec = ensureObject(replicaSet, "spec");
  fillDefaults(spec, { replicas: 1 });
  if (isJsonObject(spec["template"])) setPodTemplateDefaults(spec["template"]);
}

export function setReplicationControllerDefaults(controller: JsonObject): void {
  const spec = ensureObject(controller, "spec");
  fillDefaults(spec, { replicas: 1 });
  const labels = objectAt(spec, "template", "metadata")["labels"];
  if (isJsonObject(labels)) {
    fillDefaults(spec, { selector: { ...labels } });
    fillDefaults(ensureObject(controller, "metadata"), { labels: { ...labels } });
  }
  if (isJsonObject(spec["template"])) setPodTemplateDefaults(spec["template"]);
}

export function setStatefulSetDefaults(statefulSet: JsonObject): void {
  const spec = ensureObject(statefulSet, "spec");
  fillDefaults(spec, { podManagementPolicy: "OrderedReady", replicas: 1, revisionHistoryLimit: 10 });
  const strategy = ensureObject(spec, "updateStrategy");
  fillDefaults(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate") fillDefaults(ensureObject(strategy, "rollingUpdate"), { partition: 0 });
  const retention = ensureObject(spec, "persistentVolumeClaimRetentionPolicy");
  fillDefaults(retention, { whenDeleted: "Retain", whenScaled: "Retain" });
  for (const claim of objectsAt(spec, "volumeClaimTemplates")) {
    fillDefaults(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim" });
    setClaimDefaults(claim);
  }
  setPodTemplateDefaults(ensureObject(spec, "template"));
}

export function setDaemonSetDefaults(daemonSet: JsonObject): void {
  const spec = ensureObject(daemonSet, "spec");
  fillDefaults(spec, { revisionHistoryLimit: 10 });
  const strategy = ensureObject(spec, "updateStrategy");
  fillDefaults(strategy, { type: "RollingUpdate" });
  if (strategy["type"] === "RollingUpdate")
    fillDefaults(ensureObject(strategy, "rollingUpdate"), { maxSurge: 0, maxUnavailable: 1 });
  setPodTemplateDefaults(ensureObject(spec, "template"));
}

export function setJobDefaults(job: JsonObject): void {
  const spec = ensureObject(job, "spec");
  // Neither given: one pod. Completions alone leave parallelism at one.
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  fillDefaults(spec, { parallelism: 1, completionMode: "NonIndexed", suspend: false, manualSelector: false });
  if (spec["backoffLimit"] === undefined)
    spec["backoffLimit"] = spec["backoffLimitPerIndex"] === undefined ? 6 : 2147483647;
  const failurePolicy = spec["podFailurePolicy"];
  fillDefaults(spec, { podReplacementPolicy: failurePolicy === undefined ? "TerminatingOrFailed" : "Failed" });
  for (const rule of objectsAt(failurePolicy, "rules"))
    for (const pattern of objectsAt(rule, "onPodConditions")) fillDefaults(pattern, { status: "True" });
  const template = ensureObject(spec, "template");
  setPodTemplateDefaults(template);
  const labels = objectAt(template, "metadata", "labels");
  const metadata = ensureObject(job, "metadata");
  const isLabelled = Object.keys(objectAt(metadata, "labels")).length > 0;
  // One object for both, as upstream: what a Job is given of its own is then given to both.
  if (!isLabelled && Object.keys(labels).length > 0) metadata["labels"] = labels;
}

export function setCronJobDefaults(cronJob: JsonObject): void {
  const spec = ensureObject(cronJob, "spec");
  fillDefaults(spec, {
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  // Only the pod template of the future Jobs is defaulted here; a Job's own defaults wait until there is one.
  const jobSpec = ensureObject(ensureObject(spec, "jobTemplate"), "spec");
  setPodTemplateDefaults(ensureObject(jobSpec, "template"));
}
