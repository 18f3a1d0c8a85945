/** What clients are warned of when they write a built-in object, in the words of upstream. */
import { lookupTable, type UnstructuredObject, validateDns1123Label } from "@setpoint/apimachinery";
import { objectAt, objectsAt, stringAt, textOf, valueAt } from "../json-fields.ts";
import { appArmorWarnings } from "./pod-annotations.ts";
import { claimWarnings, podWarnings } from "./pod-warnings.ts";
import { isHeadless } from "./service-addresses.ts";

type WarningsOf = (object: UnstructuredObject, old: UnstructuredObject | undefined) => readonly string[];

/** Warnings of a kind, by `group/Kind`; undefined where there are none. */
export function warningsFor(group: string, kind: string): WarningsOf | undefined {
  return byKind[`${group}/${kind}`];
}

/** People seldom update pods, so an update has no warnings. */
function warningsOfPod(pod: UnstructuredObject, old: UnstructuredObject | undefined): readonly string[] {
  if (old !== undefined) return [];
  return [
    ...nameWarnings(pod, "the Pod's hostname"),
    ...podWarnings(objectAt(pod, "spec"), "spec"),
    ...appArmorWarnings(pod),
  ];
}

function nameWarnings({ metadata }: UnstructuredObject, use: string): readonly string[] {
  const faults = validateDns1123Label(metadata.name ?? "");
  if (faults.length === 0) return [];
  const risk = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${use}, ${risk}: [${faults.join(" ")}]`];
}

/** Of a kind with a template of pods: when it is created, and when the template may have changed. */
function warningsOfTemplate(at: string, namesPods: boolean): WarningsOf {
  const spec = [...at.split("."), "spec"];
  return (object, old) => {
    if (old !== undefined && object.metadata.generation === old.metadata.generation) return [];
    const ofName = namesPods && old === undefined ? nameWarnings(object, "Pod names and hostnames") : [];
    return [...ofName, ...podWarnings(objectAt(object, ...spec), `${at}.spec`)];
  };
}

function warningsOfStatefulSet(set: UnstructuredObject, old: UnstructuredObject | undefined): readonly string[] {
  const limit = valueAt(set, "spec", "revisionHistoryLimit");
  return [
    ...warningsOfTemplate("spec.template", false)(set, old),
    ...objectsAt(set, "spec", "volumeClaimTemplates").flatMap((claim, index) =>
      claimWarnings(objectAt(claim, "spec"), `spec.volumeClaimTemplates[${index}]${old === undefined ? "" : ".Spec"}`),
    ),
    ...(typeof limit === "number" && limit < 0
      ? ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"]
      : []),
  ];
}

function warningsOfService(service: UnstructuredObject): readonly string[] {
  const spec = objectAt(service, "spec");
  const isExternal = spec["type"] === "ExternalName";
  const headless = isHeadless(spec);
  const hasExternalIps = Array.isArray(spec["externalIPs"]) && spec["externalIPs"].length > 0;
  const ignored: readonly (readonly [field: string, isSet: boolean])[] = [
    ["loadBalancerIP", stringAt(spec, "loadBalancerIP") !== ""],
    ["externalIPs", hasExternalIps],
    ["SessionAffinity", spec["sessionAffinity"] !== "None"],
  ];
  const warnings = ignored
    .filter(([, isSet]) => headless && isSet)
    .map(([field]) => `spec.${field} is ignored for headless services`);
  if (hasExternalIps && !headless && !isExternal)
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  if (hasExternalIps && isExternal) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isExternal && stringAt(spec, "externalName") !== "")
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec["trafficDistribution"] === "PreferClose")
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}

function warningsOfCronJob(cronJob: UnstructuredObject, old: UnstructuredObject | undefined): readonly string[] {
  const schedule = textOf(valueAt(cronJob, "spec", "schedule") ?? "");
  const page = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
  const zone = `cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${page} for more details`;
  return [
    ...warningsOfTemplate("spec.jobTemplate.spec.template", true)(cronJob, old),
    ...(old !== undefined && schedule.includes("TZ") ? [zone] : []),
  ];
}

const byKind: Readonly<Record<string, WarningsOf>> = lookupTable({
  "/Pod": warningsOfPod,
  "/PodTemplate": warningsOfTemplate("template", false),
  "/ReplicationController": warningsOfTemplate("spec.template", true),
  "/Service": warningsOfService,
  "/PersistentVolumeClaim": (claim) => claimWarnings(objectAt(claim, "spec"), "spec"),
  "apps/Deployment": warningsOfTemplate("spec.template", true),
  "apps/ReplicaSet": warningsOfTemplate("spec.template", true),
  "apps/DaemonSet": warningsOfTemplate("spec.template", false),
  "apps/StatefulSet": warningsOfStatefulSet,
  "batch/Job": warningsOfTemplate("spec.template", true),
  "batch/CronJob": warningsOfCronJob,
});
