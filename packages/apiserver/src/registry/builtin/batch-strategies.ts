/**
 * Job and CronJob: a Job makes its own selector from its uid, so that two Jobs never count each other's pods.
 */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { immutableDetail, invalidValue, notSupported, required } from "../field-errors.ts";
import { ensureObject, type JsonObject, objectAt, sameJson, stringAt, valueAt } from "../json-fields.ts";
import type { StrategyTable } from "./kind-strategy.ts";
import { podSpecErrors } from "./pod-validation.ts";
import { setCronJobDefaults, setJobDefaults } from "./workload-defaults.ts";

const zoneProblem = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
const maxCronJobName = 52;

function prepareJob(job: UnstructuredObject): void {
  const json = job as unknown as JsonObject;
  const spec = ensureObject(json, "spec");
  if (spec["manualSelector"] === true || job.metadata.uid === undefined) return;
  const labels = {
    "batch.kubernetes.io/controller-uid": job.metadata.uid,
    "batch.kubernetes.io/job-name": job.metadata.name ?? "",
    "controller-uid": job.metadata.uid,
    "job-name": job.metadata.name ?? "",
  };
  const templateLabels = ensureObject(ensureObject(ensureObject(spec, "template"), "metadata"), "labels");
  const metadata = ensureObject(json, "metadata");
  const ownLabels = objectAt(metadata, "labels");
  const isLabelledByTemplate = ownLabels === templateLabels || Object.keys(ownLabels).length === 0;
  for (const [name, value] of Object.entries(labels)) templateLabels[name] ??= value;
  if (isLabelledByTemplate) metadata["labels"] = { ...templateLabels };
  const match = ensureObject(ensureObject(spec, "selector"), "matchLabels");
  match["batch.kubernetes.io/controller-uid"] ??= job.metadata.uid;
}

function restartErrors(template: unknown, at: string): readonly FieldError[] {
  const policy = stringAt(template, "spec", "restartPolicy");
  if (policy === "OnFailure" || policy === "Never") return [];
  if (policy === "") return [required(`${at}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')];
  return [notSupported(`${at}.spec.restartPolicy`, policy, ["OnFailure", "Never"])];
}

function templateErrors(template: unknown, at: string): readonly FieldError[] {
  return [...podSpecErrors(objectAt(template, "spec"), `${at}.spec`), ...restartErrors(template, at)];
}

function validateJob(job: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const errors = [...templateErrors(objectAt(job, "spec", "template"), "spec.template")];
  if (valueAt(job, "spec", "completionMode") === "Indexed" && valueAt(job, "spec", "completions") === undefined) {
    errors.push(required("spec.completions", "when completion mode is Indexed"));
  }
  if (old === undefined) return errors;
  // A suspended Job that has not started may still get another template's scheduling directives; the rest is
  // fixed.
  const suspended = valueAt(old, "spec", "suspend") === true && valueAt(old, "status", "startTime") === undefined;
  const fields = [
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
  ];
  if (!suspended) fields.push("template");
  for (const field of fields) {
    const value = valueAt(job, "spec", field);
    if (!sameJson(value, valueAt(old, "spec", field)))
      errors.push(invalidValue(`spec.${field}`, value ?? null, immutableDetail));
  }
  if (
    valueAt(old, "spec", "completionMode") !== "Indexed" &&
    valueAt(job, "spec", "completions") !== valueAt(old, "spec", "completions")
  ) {
    errors.push(invalidValue("spec.completions", valueAt(job, "spec", "completions") ?? null, immutableDetail));
  }
  return errors;
}

function validateCronJob(cronJob: UnstructuredObject): readonly FieldError[] {
  const errors = [
    ...templateErrors(objectAt(cronJob, "spec", "jobTemplate", "spec", "template"), "spec.jobTemplate.spec.template"),
  ];
  const schedule = stringAt(cronJob, "spec", "schedule");
  if (schedule === "") errors.push(required("spec.schedule"));
  else if (schedule.includes("TZ")) errors.push(invalidValue("spec.schedule", schedule, zoneProblem));
  else if (!schedule.startsWith("@") && schedule.trim().split(/\s+/).length !== 5) {
    errors.push(
      invalidValue(
        "spec.schedule",
        schedule,
        `expected exactly 5 fields, found ${schedule.trim().split(/\s+/).length}: ${JSON.stringify(schedule)}`,
      ),
    );
  }
  const name = cronJob.metadata.name ?? "";
  if (name.length > maxCronJobName)
    errors.push(invalidValue("metadata.name", name, "must be no more than 52 characters"));
  return errors;
}

export const batchStrategies: StrategyTable = {
  "batch/Job": {
    defaults: setJobDefaults,
    prepareForCreate: prepareJob,
    validate: validateJob,
    defaultPropagation: "Orphan",
  },
  "batch/CronJob": { defaults: setCronJobDefaults, validate: validateCronJob },
};
