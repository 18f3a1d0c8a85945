/**
 * Job and CronJob: a Job makes its own selector from its uid, so that two Jobs never count each other's pods.
 */
import { type FieldError, matchesLabelSelector, type UnstructuredObject } from "@setpoint/apimachinery";
import { immutableDetail, invalidValue, notSupported, required } from "../field-errors.ts";
import { ensureObject, isJsonObject, type JsonObject, objectAt, sameJson, stringAt, valueAt } from "../json-fields.ts";
import { scheduleProblem, zoneProblem } from "./cron-schedule.ts";
import { labelMismatch, negativeErrors } from "./workload-validation.ts";
import type { StrategyTable } from "./kind-strategy.ts";
import { jobPolicyErrors } from "./job-policy-validation.ts";
import { podSpecErrors } from "./pod-validation.ts";
import { setCronJobDefaults, setJobDefaults } from "./workload-defaults.ts";

const maxCronJobName = 52;
const concurrencyPolicies = ["Allow", "Forbid", "Replace"];
const historyLimits = ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
const jobCounts = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
];

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
  if (policy === "" || policy === "Always")
    return [required(`${at}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')];
  return [notSupported(`${at}.spec.restartPolicy`, policy, ["OnFailure", "Never"])];
}

/** Only a pod that ends with its failure can be judged by it. */
function failureRestartErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const policy = stringAt(spec, "template", "spec", "restartPolicy");
  if (policy !== "OnFailure" || spec["podFailurePolicy"] === undefined) return [];
  const detail = 'only "Never" is supported when podFailurePolicy is specified';
  return [invalidValue(`${at}.template.spec.restartPolicy`, policy, detail)];
}

function templateErrors(template: unknown, at: string): readonly FieldError[] {
  return [...podSpecErrors(objectAt(template, "spec"), `${at}.spec`), ...restartErrors(template, at)];
}

/**
 * A selector is the Job's own, or the user has asked to choose it; it selects the pods that the Job makes.
 */
function jobSelectorErrors(job: UnstructuredObject): readonly FieldError[] {
  const spec = objectAt(job, "spec");
  const selector = spec["selector"];
  const errors: FieldError[] = [];
  const own = {
    "batch.kubernetes.io/controller-uid": job.metadata.uid ?? "",
    "controller-uid": job.metadata.uid ?? "",
  };
  if (selector === undefined) errors.push(required("spec.selector"));
  else if (spec["manualSelector"] !== true && !(isJsonObject(selector) && matchesLabelSelector(selector, own)))
    errors.push(invalidValue("spec.selector", selector, "`selector` not auto-generated"));
  return [...errors, ...labelMismatch(selector, spec["template"])];
}

function jobCountErrors(spec: JsonObject): readonly FieldError[] {
  const errors = jobCounts.flatMap((field) => negativeErrors(spec[field], `spec.${field}`));
  if (spec["backoffLimitPerIndex"] === undefined || spec["completionMode"] === "Indexed") return errors;
  const at = "spec.backoffLimitPerIndex";
  return [...errors, invalidValue(at, spec["backoffLimitPerIndex"], "requires indexed completion mode")];
}

function validateJob(job: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const errors = [
    ...jobSelectorErrors(job),
    ...jobCountErrors(objectAt(job, "spec")),
    ...jobPolicyErrors(objectAt(job, "spec"), "spec"),
    ...templateErrors(objectAt(job, "spec", "template"), "spec.template"),
    ...failureRestartErrors(objectAt(job, "spec"), "spec"),
  ];
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

function scheduleErrors({ schedule = "", timeZone }: JsonObject): readonly FieldError[] {
  const problem = schedule === "" ? undefined : scheduleProblem(String(schedule));
  const wrongZone = typeof timeZone === "string" ? zoneProblem(timeZone) : undefined;
  return [
    ...(schedule === "" ? [required("spec.schedule")] : []),
    ...(problem === undefined ? [] : [invalidValue("spec.schedule", schedule, problem)]),
    ...(wrongZone === undefined ? [] : [invalidValue("spec.timeZone", timeZone, wrongZone)]),
  ];
}

function validateCronJob(cronJob: UnstructuredObject): readonly FieldError[] {
  const spec = objectAt(cronJob, "spec");
  const job = objectAt(spec, "jobTemplate", "spec");
  const { concurrencyPolicy } = spec;
  const errors = [
    ...scheduleErrors(spec),
    ...negativeErrors(spec["startingDeadlineSeconds"], "spec.startingDeadlineSeconds"),
    ...(concurrencyPolicies.includes(String(concurrencyPolicy))
      ? []
      : [notSupported("spec.concurrencyPolicy", concurrencyPolicy, concurrencyPolicies)]),
    ...jobPolicyErrors(job, "spec.jobTemplate.spec"),
    ...templateErrors(objectAt(cronJob, "spec", "jobTemplate", "spec", "template"), "spec.jobTemplate.spec.template"),
    ...failureRestartErrors(job, "spec.jobTemplate.spec"),
    ...historyLimits.flatMap((field) => negativeErrors(spec[field], `spec.${field}`)),
  ];
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
