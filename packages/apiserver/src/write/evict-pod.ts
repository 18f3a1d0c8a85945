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
import { spendBudget, stillProcessed } from "./spend-budget.ts";
import { numberAt, objectAt, objectsAt, stringAt, valueAt, type JsonObject } from "../registry/json-fields.ts";
import { podStrategy } from "../registry/builtin/pod-strategy.ts";

const podKind = { group: "", kind: "Pod" };
const disruption = {
  type: "DisruptionTarget",
  status: "True",
  reason: "EvictionByEvictionAPI",
  message: "Eviction API: evicting",
};
const severalBudgets =
  "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
/** Decisions on a pod that changes meanwhile; then the client gets the conflict. */
const attemptsMax = 20;

export function evictPod(server: EndpointServer): Endpoint {
  return async ({ attributes, body, request }) => {
    const { namespace, name } = attributes;
    if (stringAt(body, "metadata", "name") !== name)
      throw badRequest("name in URL does not match name in Eviction object");
    const asked = parseDeleteOptions(objectAt(body, "deleteOptions"), undefined);
    const options = { ...asked, dryRun: asked.dryRun || isDryRun(request.query) };
    for (let attempt = 1; ; attempt++) {
      try {
        await evict(server, namespace, name, options);
        return createdStatus();
      } catch (error) {
        if (!(error instanceof ChangedPod) || attempt === attemptsMax) throw error;
      }
    }
  };
}

/** The pod was not ready when it was read, so it needed no budget; it may be ready now. */
class ChangedPod extends ApiError {}

async function evict(server: EndpointServer, namespace: string, name: string, options: DeleteOptions): Promise<void> {
  const pod = server.reader.get("", "pods", namespace, name);
  if (pod === undefined) throw missing("pods", name);
  checkPreconditions(podKind, pod, options);
  const budget = needsBudget(pod) ? budgetOf(server, pod) : undefined;
  const isExempt = budget !== undefined && !isReady(pod) && allowsUnready(budget);
  if (budget !== undefined && !isExempt) await spend(server, budget, name, options.dryRun);
  if (options.dryRun) return;
  const mayStart = stringAt(pod, "status", "phase") === "Pending" && pod.metadata.deletionTimestamp === undefined;
  const ifChanged = isExempt
    ? stillProcessed(budget)
    : new ChangedPod(conflicting("pods", name, "the pod was modified while it was being evicted").status);
  await deletePod(server, pod, options, isExempt || mayStart ? ifChanged : undefined);
}

/** Pods that do no work do not count for a budget. */
function needsBudget(pod: UnstructuredObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  return !["Pending", "Succeeded", "Failed"].includes(phase) && pod.metadata.deletionTimestamp === undefined;
}

function budgetOf({ reader }: EndpointServer, pod: UnstructuredObject): UnstructuredObject | undefined {
  const { namespace = "", labels = {} } = pod.metadata;
  const budgets = reader
    .list("policy", "poddisruptionbudgets", namespace)
    .filter((each) =>
      matchesLabelSelector(valueAt(each, "spec", "selector") as LabelSelectorObject | undefined, labels),
    );
  if (budgets.length > 1) throw new ApiError(failure(500, "", severalBudgets));
  return budgets[0];
}

function isReady(pod: UnstructuredObject): boolean {
  return objectsAt(pod, "status", "conditions").some((each) => each["type"] === "Ready" && each["status"] === "True");
}

async function spend(
  { storage, host }: EndpointServer,
  budget: UnstructuredObject,
  pod: string,
  dryRun: boolean,
): Promise<void> {
  const { namespace = "", name = "" } = budget.metadata;
  const key = { prefix: "/policy/poddisruptionbudgets", path: `${namespace}/${name}` };
  await storage.write(key, (current) => {
    if (current === undefined) return "keep";
    const spent = spendBudget(current, pod, timestamp(host.clock));
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

/**
 * In the writes of upstream: why the pod goes, that it goes, and, when no node has to end it, that it is
 * gone.
 */
async function deletePod(
  server: EndpointServer,
  pod: UnstructuredObject,
  options: DeleteOptions,
  ifChanged: Error | undefined,
): Promise<void> {
  const { storage, host } = server;
  const { namespace = "", name = "" } = pod.metadata;
  const key = podKey(namespace, name);
  const same = (current: UnstructuredObject | undefined): UnstructuredObject => {
    if (current === undefined) throw missing("pods", name);
    if (current.metadata.uid !== pod.metadata.uid)
      throw conflicting("pods", name, "the pod was replaced while it was being evicted");
    return current;
  };
  await storage.write(key, (present) => {
    const current = same(present);
    if (ifChanged !== undefined && current.metadata.resourceVersion !== pod.metadata.resourceVersion) throw ifChanged;
    return withReason(current, timestamp(host.clock));
  });
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
