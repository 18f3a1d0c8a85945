/** What an eviction may take from a PodDisruptionBudget. */
import { ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import { numberAt, objectAt, objectsAt, type JsonObject } from "../registry/json-fields.ts";

const retryAfterSeconds = 10;
const blocked = "Cannot evict pod as it would violate the pod's disruption budget.";
const conditionType = "DisruptionAllowed";
/** More pods on their way out than this and the budget's controller is behind. */
const disruptedPodsMax = 2000;

/** The budget with one disruption less, and the pod among the disrupted ones. Throws when it allows none. */
export function spendBudget(budget: UnstructuredObject, pod: string, now: string): UnstructuredObject {
  const status = objectAt(budget, "status");
  if ((numberAt(status, "observedGeneration") ?? 0) < (budget.metadata.generation ?? 0)) throw stillProcessed(budget);
  const allowed = numberAt(status, "disruptionsAllowed") ?? 0;
  if (allowed < 0) throw refused(budget, "pdb disruptions allowed is negative");
  const disrupted = objectAt(status, "disruptedPods");
  if (Object.keys(disrupted).length > disruptedPodsMax)
    throw refused(budget, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  if (allowed === 0) throw tooMany(whyNone(budget));
  const spent: JsonObject = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disrupted, [pod]: now } };
  return { ...budget, status: allowed > 1 ? spent : withNoneLeft(spent, now) };
}

/** 429: the budget's controller has not counted yet what the decision depends on. */
export function stillProcessed(budget: UnstructuredObject): ApiError {
  const why = `The disruption budget ${budget.metadata.name ?? ""} is still being processed by the server.`;
  return tooMany(why, { retryAfterSeconds });
}

function tooMany(why: string, retry: object = {}): ApiError {
  const causes = [{ reason: "DisruptionBudget", message: why }];
  return new ApiError(failure(429, "TooManyRequests", blocked, { causes, ...retry }));
}

function refused(budget: UnstructuredObject, why: string): ApiError {
  const { name = "" } = budget.metadata;
  const message = `poddisruptionbudget.policy "${name}" is forbidden: ${why}`;
  return new ApiError(failure(403, "Forbidden", message, { name, group: "policy", kind: "poddisruptionbudget" }));
}

function whyNone(budget: UnstructuredObject): string {
  const subject = `The disruption budget ${budget.metadata.name ?? ""}`;
  const status = objectAt(budget, "status");
  const condition = objectsAt(status, "conditions").find((each) => each["type"] === conditionType);
  const message = condition?.["status"] === "False" ? String(condition["message"] ?? "") : "";
  if (message !== "" && condition?.["reason"] === "SyncFailed")
    return `${subject} does not allow evicting pods currently because it failed sync: ${message}`;
  const desired = numberAt(status, "desiredHealthy") ?? 0;
  const current = numberAt(status, "currentHealthy") ?? 0;
  if (current <= desired) return `${subject} needs ${desired} healthy pods and has ${current} currently`;
  const none = `${subject} does not allow evicting pods currently`;
  return message === "" ? none : `${none} (${String(condition?.["reason"])}): ${message}`;
}

/** The next eviction reads the condition before the budget's controller writes it again. */
function withNoneLeft(status: JsonObject, now: string): JsonObject {
  const conditions = objectsAt(status, "conditions");
  const present = conditions.find((each) => each["type"] === conditionType);
  const condition: JsonObject = {
    type: conditionType,
    status: "False",
    reason: "InsufficientPods",
    message: "",
    observedGeneration: numberAt(status, "observedGeneration") ?? 0,
    lastTransitionTime: present?.["status"] === "False" ? present["lastTransitionTime"] : now,
  };
  return { ...status, conditions: [...conditions.filter((each) => each !== present), condition] };
}
