/** Columns of apps, batch, autoscaling and policy. */
import { lookupTable, formatAge, formatHumanDuration, type UnstructuredObject } from "@setpoint/apimachinery";
import { objectAt, objectsAt, stringAt, valueAt, textOf } from "../json-fields.ts";
import type { TableColumn } from "../../response/table-column.ts";
import {
  ageColumn,
  integerColumn,
  none,
  numeric,
  pathColumn,
  selectorText,
  templateSpec,
  textColumn,
  workloadColumns,
} from "./column-kinds.ts";

const wideColumns = workloadColumns(templateSpec, ["spec", "selector"]);

function readyOf(object: UnstructuredObject): string {
  return `${numeric(valueAt(object, "status", "readyReplicas"))}/${numeric(valueAt(object, "spec", "replicas"))}`;
}

function jobStatus(job: UnstructuredObject): string {
  const holds = (type: string): boolean =>
    objectsAt(job, "status", "conditions").some((each) => each["type"] === type && each["status"] === "True");
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  if (holds("Suspended")) return "Suspended";
  if (holds("FailureTarget")) return "FailureTarget";
  return holds("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function jobCompletions(job: UnstructuredObject): string {
  const succeeded = numeric(valueAt(job, "status", "succeeded"));
  const completions = valueAt(job, "spec", "completions");
  if (typeof completions === "number") return `${succeeded}/${completions}`;
  const parallelism = numeric(valueAt(job, "spec", "parallelism"));
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: UnstructuredObject, now: number): string {
  const start = stringAt(job, "status", "startTime");
  if (start === "") return "";
  const end = stringAt(job, "status", "completionTime");
  return formatHumanDuration((end === "" ? now : Date.parse(end)) - Date.parse(start));
}

function revisionOwner(revision: UnstructuredObject): string {
  const owner = revision.metadata.ownerReferences?.find((each) => each.controller === true);
  if (owner === undefined) return none;
  const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0] ?? ""}` : "";
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

function autoscalerTargets(autoscaler: UnstructuredObject): string {
  const metrics = objectsAt(autoscaler, "spec", "metrics");
  const v1Target = valueAt(autoscaler, "spec", "targetCPUUtilizationPercentage");
  if (v1Target !== undefined)
    return `cpu: ${percent(valueAt(autoscaler, "status", "currentCPUUtilizationPercentage"))}/${textOf(v1Target)}%`;
  const current = objectsAt(autoscaler, "status", "currentMetrics");
  const texts = metrics.map((metric, index) => metricText(metric, current[index]));
  return texts.length === 0 ? none : texts.join(", ");
}

function percent(value: unknown): string {
  return typeof value === "number" ? `${value}%` : "<unknown>";
}

function metricText(metric: Record<string, unknown>, status: unknown): string {
  const type = stringAt(metric, "type");
  const source = objectAt(metric, type.slice(0, 1).toLowerCase() + type.slice(1));
  const now = objectAt(status, type.slice(0, 1).toLowerCase() + type.slice(1), "current");
  const target = objectAt(source, "target");
  const name = stringAt(source, "name");
  const prefix = name === "" ? "" : `${name}: `;
  if (target["averageUtilization"] !== undefined)
    return `${prefix}${percent(now["averageUtilization"])}/${textOf(target["averageUtilization"])}%`;
  if (target["averageValue"] !== undefined)
    return `${prefix}${textOf(now["averageValue"] ?? "<unknown>")}/${textOf(target["averageValue"])}`;
  return `${prefix}${textOf(now["value"] ?? "<unknown>")}/${textOf(target["value"] ?? "<auto>")}`;
}

const autoscalerColumns: readonly TableColumn[] = [
  textColumn(
    "Reference",
    (object) =>
      `${stringAt(object, "spec", "scaleTargetRef", "kind")}/${stringAt(object, "spec", "scaleTargetRef", "name")}`,
  ),
  textColumn("Targets", autoscalerTargets),
  textColumn("MinPods", (object) => textOf(valueAt(object, "spec", "minReplicas") ?? "<unset>")),
  textColumn("MaxPods", (object) => numeric(valueAt(object, "spec", "maxReplicas"))),
  textColumn("Replicas", (object) => numeric(valueAt(object, "status", "currentReplicas"))),
  ageColumn,
];

/** By `group/Kind`. */
export const workloadKinds: Readonly<Record<string, readonly TableColumn[]>> = lookupTable({
  "apps/Deployment": [
    textColumn("Ready", readyOf),
    textColumn("Up-to-date", (object) => numeric(valueAt(object, "status", "updatedReplicas"))),
    textColumn("Available", (object) => numeric(valueAt(object, "status", "availableReplicas"))),
    ageColumn,
    ...wideColumns,
  ],
  "apps/ReplicaSet": [
    integerColumn("Desired", "spec.replicas"),
    integerColumn("Current", "status.replicas"),
    integerColumn("Ready", "status.readyReplicas"),
    ageColumn,
    ...wideColumns,
  ],
  "apps/StatefulSet": [textColumn("Ready", readyOf), ageColumn, ...workloadColumns(templateSpec, undefined)],
  "apps/DaemonSet": [
    integerColumn("Desired", "status.desiredNumberScheduled"),
    integerColumn("Current", "status.currentNumberScheduled"),
    integerColumn("Ready", "status.numberReady"),
    integerColumn("Up-to-date", "status.updatedNumberScheduled"),
    integerColumn("Available", "status.numberAvailable"),
    textColumn("Node Selector", (object) => selectorText(objectAt(object, "spec", "template", "spec", "nodeSelector"))),
    ageColumn,
    ...wideColumns,
  ],
  "apps/ControllerRevision": [
    textColumn("Controller", revisionOwner),
    textColumn("Revision", (object) => numeric(object["revision"])),
    ageColumn,
  ],
  "batch/Job": [
    textColumn("Status", jobStatus),
    textColumn("Completions", jobCompletions),
    textColumn("Duration", jobDuration),
    ageColumn,
    ...wideColumns,
  ],
  "batch/CronJob": [
    pathColumn("Schedule", "spec.schedule"),
    pathColumn("Timezone", "spec.timeZone", none),
    {
      name: "Suspend",
      type: "boolean",
      priority: 0,
      cell: (object) => (valueAt(object, "spec", "suspend") === true ? "True" : "False"),
    },
    { name: "Active", type: "integer", priority: 0, cell: (object) => objectsAt(object, "status", "active").length },
    textColumn("Last Schedule", (object, now) => {
      const last = stringAt(object, "status", "lastScheduleTime");
      return last === "" ? none : formatAge(last, now);
    }),
    ageColumn,
    ...workloadColumns(
      ["spec", "jobTemplate", "spec", "template", "spec"],
      ["spec", "jobTemplate", "spec", "selector"],
    ),
  ],
  "autoscaling/HorizontalPodAutoscaler": autoscalerColumns,
  "policy/PodDisruptionBudget": [
    textColumn("Min Available", (object) => textOf(valueAt(object, "spec", "minAvailable") ?? "N/A")),
    textColumn("Max Unavailable", (object) => textOf(valueAt(object, "spec", "maxUnavailable") ?? "N/A")),
    integerColumn("Allowed Disruptions", "status.disruptionsAllowed"),
    ageColumn,
  ],
});
