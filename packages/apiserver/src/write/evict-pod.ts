/** Eviction: a deletion that first checks the pod's PodDisruptionBudget. */
import {
  ApiError,
  deepEqual,
  failure,
  type LabelSelectorObject,
  matchesLabelSelector,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import { checkPreconditions, deleteMarked } from "./delete-object.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { goesAtOnce, markDeleted } from "./mark-deleted.ts";
import { type DeleteOptions, parseDeleteOptions } from "../request/delete-options.ts";
import { badRequest } from "../response/api-errors.ts";
import { conflicting, createdStatus, type EndpointServer, isDryRun, missing, podKey } from "./endpoint-server.ts";
import { numberAt, objectAt, objectsAt, stringAt, valueAt, type JsonObject } from "../registry/json-fields.ts";
import { podStrategy } from "../registry/builtin/pod-strategy.ts";

const retryAfterSeconds = 10;
const blocked = "Cannot evict pod as it would violate the pod's disruption budget.";
const podKind = { group: "", kind: "Pod" };
const disruption = {
  type: "DisruptionTarget",
  status: "True",
  reason: "EvictionByEvictionAPI",
  message: "Eviction API: evicting",
};
/** More pods on their way out than this and the budget's controller is behind. */
const disruptedPodsMax = 2000;

export function evictPod(server: EndpointServer): Endpoint {
  return async ({ attributes, body, request }) => {
    const { namespace, name } = attributes;
    if (stringAt(body, "metadata", "name") !== name)
      throw badRequest("name in URL does not match name in Eviction object");
    const pod = server.reader.get("", "pods", namespace, name);
    if (pod === undefined) throw missing("pods", name);
    const options = parseDeleteOptions(objectAt(body, "deleteOptions"), undefined);
    checkPreconditions(podKind, pod, options);
    const dryRun = options.dryRun || isDryRun(request.query);
    if (needsBudget(pod)) await spendBudget(server, pod, dryRun);
    if (!dryRun) await deletePod(server, pod, options);
    return createdStatus();
  };
}

/** Pods that do no work do not count for a budget. */
function needsBudget(pod: UnstructuredObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  return !["Pending", "Succeeded", "Failed"].includes(phase) && pod.metadata.deletionTimestamp === undefined;
}

async function spendBudget(
  { storage, reader, host }: EndpointServer,
  pod: UnstructuredObject,
  dryRun: boolean,
): Promise<void> {
  const { namespace = "", name = "", labels = {} } = pod.metadata;
  const budgets = reader
    .list("policy", "poddisruptionbudgets", namespace)
    .filter((each) =>
      matchesLabelSelector(valueAt(each, "spec", "selector") as LabelSelectorObject | undefined, labels),
    );
  const [budget] = budgets;
  if (budget === undefined) return;
  if (budgets.length > 1) {
    throw new ApiError(
      failure(
        500,
        "InternalError",
        "Internal error occurred: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      ),
    );
  }
  const isReady = objectsAt(pod, "status", "conditions").some(
    (each) => each["type"] === "Ready" && each["status"] === "True",
  );
  if (!isReady && allowsUnready(budget)) return;
  const key = { prefix: "/policy/poddisruptionbudgets", path: `${namespace}/${budget.metadata.name ?? ""}` };
  await storage.write(key, (current) => {
    if (current === undefined) return "keep";
    const spent = spend(current, name, timestamp(host.clock));
    return dryRun ? "keep" : spent;
  });
}

/**
 * Whether an unready pod may be evicted without using the budget: enough others are healthy, or its policy
 * allows it.
 */
function allowsUnready(budget: UnstructuredObject): boolean {
  if (valueAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const desired = numberAt(budget, "status", "desiredHealthy") ?? 0;
  return desired > 0 && (numberAt(budget, "status", "currentHealthy") ?? 0) >= desired;
}

function spend(budget: UnstructuredObject, pod: string, now: string): UnstructuredObject {
  const name = budget.metadata.name ?? "";
  const status = objectAt(budget, "status");
  if ((numberAt(status, "observedGeneration") ?? 0) < (budget.metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`);
  }
  const allowed = numberAt(status, "disruptionsAllowed") ?? 0;
  const disrupted = objectAt(status, "disruptedPods");
  if (Object.keys(disrupted).length > disruptedPodsMax)
    throw tooMany(`The disruption budget ${name} has too many disrupted pods.`);
  if (allowed <= 0) {
    const desired = numberAt(status, "desiredHealthy") ?? 0;
    const current = numberAt(status, "currentHealthy") ?? 0;
    throw tooMany(`The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`);
  }
  const spent: JsonObject = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disrupted, [pod]: now } };
  return { ...budget, status: spent };
}

function tooMany(why: string): ApiError {
  const retry = why.endsWith("by the server.") ? { retryAfterSeconds } : {};
  return new ApiError(
    failure(429, "TooManyRequests", blocked, { causes: [{ reason: "DisruptionBudget", message: why }], ...retry }),
  );
}

/**
 * In the writes of upstream: why the pod goes, that it goes, and, when no node has to end it, that it is
 * gone.
 */
async function deletePod(server: EndpointServer, pod: UnstructuredObject, options: DeleteOptions): Promise<void> {
  const { storage, host } = server;
  const { namespace = "", name = "" } = pod.metadata;
  const key = podKey(namespace, name);
  const same = (current: UnstructuredObject | undefined): UnstructuredObject => {
    if (current === undefined) throw missing("pods", name);
    if (current.metadata.uid !== pod.metadata.uid)
      throw conflicting("pods", name, "the pod was replaced while it was being evicted");
    return current;
  };
  await storage.write(key, (current) => withReason(same(current), timestamp(host.clock)));
  const { object } = await storage.write(key, (present) => {
    const current = same(present);
    const marked = markDeleted(host.clock, podStrategy, current, options);
    return typeof marked === "object" && deepEqual(marked, current) ? "keep" : marked;
  });
  if (object !== undefined && goesAtOnce(object)) await deleteMarked(server, key, object);
}

/** A pod's conditions show why it was evicted. */
function withReason(pod: UnstructuredObject, now: string): UnstructuredObject | "keep" {
  const status = objectAt(pod, "status");
  const conditions = objectsAt(status, "conditions");
  const present = conditions.find(({ type }) => type === disruption.type);
  if (present?.["status"] === "True" && present["reason"] === disruption.reason) return "keep";
  const since = present?.["status"] === "True" ? present["lastTransitionTime"] : now;
  const condition: JsonObject = { lastProbeTime: null, ...disruption, lastTransitionTime: since };
  const others = conditions.filter((each) => each !== present);
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
}
