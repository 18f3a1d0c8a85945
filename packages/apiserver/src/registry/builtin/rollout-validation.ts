/** How workloads replace their pods: strategies, policies and bounds, in the words of upstream. */
import { type FieldError, type UnstructuredObject, validateDns1123Label } from "@setpoint/apimachinery";
import { forbidden, invalidValue, notSupported, required } from "../field-errors.ts";
import { isJsonObject, type JsonObject, numberAt, objectAt, stringAt } from "../json-fields.ts";
import { amountFormErrors, numberOf, shareErrors } from "./amount-validation.ts";
import { negativeErrors } from "./workload-validation.ts";

/** Upstream shows a strategy as its Go struct. */
function shownStrategy(strategy: JsonObject): JsonObject {
  return { Type: strategy["type"] ?? "", RollingUpdate: strategy["rollingUpdate"] ?? null };
}

export function deploymentRolloutErrors(deployment: UnstructuredObject): readonly FieldError[] {
  const spec = objectAt(deployment, "spec");
  const strategy = objectAt(spec, "strategy");
  return [...deploymentStrategyErrors(strategy), ...deadlineErrors(spec)];
}

function deploymentStrategyErrors(strategy: JsonObject): readonly FieldError[] {
  const at = "spec.strategy.rollingUpdate";
  switch (strategy["type"]) {
    case "Recreate":
      return strategy["rollingUpdate"] === undefined
        ? []
        : [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")];
    case "RollingUpdate": {
      const { maxSurge, maxUnavailable } = objectAt(strategy, "rollingUpdate");
      // A rollout that may neither add a pod nor take one away would never end.
      const isStuck = numberOf(maxSurge) === 0 && numberOf(maxUnavailable) === 0;
      return [
        ...amountFormErrors(maxUnavailable, `${at}.maxUnavailable`),
        ...amountFormErrors(maxSurge, `${at}.maxSurge`),
        ...(isStuck ? [invalidValue(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : []),
        ...shareErrors(maxUnavailable, `${at}.maxUnavailable`),
      ];
    }
    default:
      return [notSupported("spec.strategy", shownStrategy(strategy), ["Recreate", "RollingUpdate"])];
  }
}

function deadlineErrors(spec: JsonObject): readonly FieldError[] {
  const seconds = numberAt(spec, "progressDeadlineSeconds");
  if (seconds === undefined) return [];
  const at = "spec.progressDeadlineSeconds";
  const isShort = seconds <= (numberAt(spec, "minReadySeconds") ?? 0);
  return [
    ...negativeErrors(seconds, at),
    ...(isShort ? [invalidValue(at, seconds, "must be greater than minReadySeconds")] : []),
  ];
}

export function daemonSetRolloutErrors(daemonSet: UnstructuredObject): readonly FieldError[] {
  const strategy = objectAt(daemonSet, "spec", "updateStrategy");
  const { type } = strategy;
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate")
    return [notSupported("spec.updateStrategy", shownStrategy(strategy), ["RollingUpdate", "OnDelete"])];
  const at = "spec.updateStrategy.rollingUpdate";
  const amounts = objectAt(strategy, "rollingUpdate");
  return [
    ...["maxUnavailable", "maxSurge"].flatMap((field) => [
      ...amountFormErrors(amounts[field], `${at}.${field}`),
      ...shareErrors(amounts[field], `${at}.${field}`),
    ]),
    ...surgeErrors(amounts, at),
  ];
}

/** A node runs one pod of a DaemonSet: the new one starts before the old one ends, or after it. */
function surgeErrors({ maxSurge, maxUnavailable }: JsonObject, at: string): readonly FieldError[] {
  const [surges, leaves] = [numberOf(maxSurge) !== 0, numberOf(maxUnavailable) !== 0];
  if (surges && leaves)
    return [invalidValue(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero")];
  return surges || leaves ? [] : [required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0")];
}

const retentionPolicies = ["Retain", "Delete"];

export function statefulSetPolicyErrors(statefulSet: UnstructuredObject): readonly FieldError[] {
  const spec = objectAt(statefulSet, "spec");
  const management = stringAt(spec, "podManagementPolicy");
  const retention = objectAt(spec, "persistentVolumeClaimRetentionPolicy");
  const service = stringAt(spec, "serviceName");
  return [
    ...(management === "OrderedReady" || management === "Parallel"
      ? []
      : [invalidValue("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'")]),
    ...statefulSetStrategyErrors(objectAt(spec, "updateStrategy")),
    ...["whenDeleted", "whenScaled"].flatMap((field) => {
      const policy = retention[field];
      const isKnown = policy === undefined || retentionPolicies.includes(String(policy));
      return isKnown
        ? []
        : [notSupported(`spec.persistentVolumeClaimRetentionPolicy.${field}`, policy, retentionPolicies)];
    }),
    ...negativeErrors(numberAt(spec, "ordinals", "start"), "spec.ordinals.start"),
    ...(service === "" ? [] : validateDns1123Label(service)).map((fault) =>
      invalidValue("spec.serviceName", service, fault),
    ),
  ];
}

function statefulSetStrategyErrors(strategy: JsonObject): readonly FieldError[] {
  const at = "spec.updateStrategy";
  const { type, rollingUpdate } = strategy;
  const partition = numberAt(rollingUpdate, "partition");
  if (type === "RollingUpdate") return negativeErrors(partition, `${at}.rollingUpdate.partition`);
  if (type !== "OnDelete") return [invalidValue(at, shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")];
  if (!isJsonObject(rollingUpdate)) return [];
  const shown = { Partition: partition ?? 0, MaxUnavailable: rollingUpdate["maxUnavailable"] ?? null };
  return [invalidValue(`${at}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
}
