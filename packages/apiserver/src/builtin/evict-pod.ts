/** Eviction: a deletion that first asks the pod's disruption budget. */
import { ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import type { Endpoint } from "../registry/endpoint.ts";
import {
  checkIdentity,
  conflicting,
  createdStatus,
  type EndpointServer,
  isDryRun,
  missing,
  podKey,
} from "./endpoint-server.ts";
import { numberAt, objectAt, objectsAt, stringAt, valueAt, type JsonObject } from "./json-fields.ts";
import { podStrategy } from "./pod-strategy.ts";
import { matchesLabels } from "./selector-match.ts";

const retryAfterSeconds = 10;
const blocked = "Cannot evict pod as it would violate the pod's disruption budget.";
/** More pods on their way out than this and the budget's controller is behind. */
const disruptedPodsMax = 2000;

export function evictPod(server: EndpointServer): Endpoint {
  return async ({ attributes, body, request }) => {
    const { namespace, name } = attributes;
    const pod = server.reader.get("", "pods", namespace, name);
    if (pod === undefined) throw missing("pods", name);
    checkIdentity("pods", pod, objectAt(body, "deleteOptions", "preconditions"));
    const dryRun = isDryRun(request.query);
    if (needsBudget(pod)) await spendBudget(server, pod, dryRun);
    if (!dryRun) await deletePod(server, pod, numberAt(body, "deleteOptions", "gracePeriodSeconds"));
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
    .filter((each) => matchesLabels(valueAt(each, "spec", "selector"), labels));
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

/** Whether a pod that is not ready may go without asking: the rest is healthy enough, or the budget says so. */
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

async function deletePod(
  { storage, host }: EndpointServer,
  pod: UnstructuredObject,
  requested: number | undefined,
): Promise<void> {
  const { namespace = "", name = "" } = pod.metadata;
  await storage.write(podKey(namespace, name), (current) => {
    if (current === undefined) throw missing("pods", name);
    if (current.metadata.uid !== pod.metadata.uid)
      throw conflicting("pods", name, "the pod was replaced while it was being evicted");
    if (current.metadata.deletionTimestamp !== undefined) return "keep";
    const grace = podStrategy.deletionGraceSeconds?.(current, requested) ?? 0;
    if (grace === 0 && (current.metadata.finalizers ?? []).length === 0) return "delete";
    const end = new Date((Math.floor(host.clock.now() / 1000) + grace) * 1000).toISOString();
    const generation = (current.metadata.generation ?? 0) + 1;
    const deletion = { deletionTimestamp: `${end.slice(0, 19)}Z`, deletionGracePeriodSeconds: grace, generation };
    return { ...current, metadata: { ...current.metadata, ...deletion } };
  });
}
