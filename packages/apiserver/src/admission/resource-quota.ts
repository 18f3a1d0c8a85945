/** ResourceQuota: rejects writes that exceed the quotas of their namespace. */
import {
  addAmounts,
  addQuantities,
  compareQuantities,
  formatQuantity,
  inQuotaScope,
  type Quantity,
  quotaResource,
  quotaUsage,
  readAmounts,
  type ResourceAmounts,
  subtractQuantities,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { objectAt, objectsAt, stringAt } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "./namespace-lifecycle.ts";

/** Kinds that may come to use more while they exist. */
const growing: ReadonlySet<string> = new Set(["persistentvolumeclaims", "pods", "services"]);
/** What was allowed and is not stored after this long never will be. */
const pendingMs = 5_000;
const containerResources = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

interface Pending {
  readonly object: UnstructuredObject;
  readonly untilMs: number;
}

/**
 * Counts what is stored, and what was allowed and is not visible yet: writes of one moment are committed
 * together, and none of them sees the others in the store.
 */
export function resourceQuota(): AdmissionPlugin {
  const pending = new PendingObjects();
  return {
    name: "ResourceQuota",
    async validate(request) {
      if (request.operation === "DELETE") pending.forget(request);
      else chargePending(request, pending);
    },
    // What was allowed is forgotten after `pendingMs`, and others may have used it up while a webhook was
    // asked.
    stillHolds(request) {
      try {
        chargePending(request, pending);
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** Throws a 403 when a quota does not allow the object; otherwise counts it until it is stored. */
function chargePending(request: AdmissionRequest, pending: PendingObjects): void {
  const isCharged = charge(request, pending);
  if (isCharged && request.object !== undefined && !request.dryRun) pending.add(request, request.object);
}

/** Whether there are quotas; throws a 403 when one of them does not allow the object. */
function charge(request: AdmissionRequest, pending: PendingObjects): boolean {
  const { object, namespace, reader } = request;
  if (object === undefined || namespace === "" || !isCounted(request)) return false;
  const quotas = reader.list("", "resourcequotas", namespace);
  for (const quota of quotas) checkQuota(request, object, quota, pending);
  return quotas.length > 0;
}

function isCounted({ operation, definition, subresource }: AdmissionRequest): boolean {
  const { group, resource } = definition;
  if (!definition.namespaced) return false;
  if (operation === "CREATE") return subresource === "";
  if (operation !== "UPDATE" || group !== "" || !growing.has(resource)) return false;
  return subresource === "" || subresource === "resize";
}

function checkQuota(
  request: AdmissionRequest,
  object: UnstructuredObject,
  quota: UnstructuredObject,
  pending: PendingObjects,
): void {
  const { group, resource } = request.definition;
  if (!inQuotaScope(quota, group, resource, object)) return;
  const hard = readAmounts(objectAt(quota, "spec", "hard"));
  const before = request.old === undefined ? {} : quotaUsage(group, resource, request.old);
  const asked = grown(quotaUsage(group, resource, object), before, hard);
  const name = quota.metadata.name ?? "";
  if (group === "" && resource === "pods" && request.operation === "CREATE")
    requireResources(request, object, hard, name);
  if (Object.keys(asked).length === 0) return;
  const used = usedOf(request, quota, pending);
  const exceeded = Object.keys(asked)
    .filter((each) => isExceeded(used[each], asked[each], hard[each]))
    .sort();
  if (exceeded.length === 0) return;
  const text = (amounts: ResourceAmounts): string => amountsText(amounts, exceeded);
  throw forbiddenByAdmission(
    request,
    `exceeded quota: ${name}, requested: ${text(asked)}, used: ${text(used)}, limited: ${text(hard)}`,
  );
}

/** What the quota limits and the object uses more of than before. */
function grown(usage: ResourceAmounts, before: ResourceAmounts, hard: ResourceAmounts): ResourceAmounts {
  const more: Record<string, Quantity> = {};
  for (const [name, amount] of Object.entries(usage)) {
    const earlier = before[name];
    const growth = earlier === undefined ? amount : subtractQuantities(amount, earlier);
    if (hard[name] !== undefined && growth.nanos > 0n) more[name] = growth;
  }
  return more;
}

function isExceeded(used: Quantity | undefined, asked: Quantity | undefined, hard: Quantity | undefined): boolean {
  if (asked === undefined || hard === undefined) return false;
  return compareQuantities(used === undefined ? asked : addQuantities(used, asked), hard) > 0;
}

function amountsText(amounts: ResourceAmounts, names: readonly string[]): string {
  return names
    .map((name) => {
      const amount = amounts[name];
      return `${name}=${amount === undefined ? "0" : formatQuantity(amount)}`;
    })
    .join(",");
}

/** A quota of compute resources has no effect unless containers declare what they use. */
function requireResources(
  request: AdmissionRequest,
  pod: UnstructuredObject,
  hard: ResourceAmounts,
  quota: string,
): void {
  const missing = containerResources
    .filter((name) => hard[name] !== undefined)
    .flatMap((name) => {
      const names = containersWithout(pod, name);
      return names.length === 0 ? [] : [`${name} for: ${names.join(",")}`];
    })
    .sort();
  if (missing.length > 0)
    throw forbiddenByAdmission(request, `failed quota: ${quota}: must specify ${missing.join("; ")}`);
}

function containersWithout(pod: UnstructuredObject, name: string): readonly string[] {
  const [field = "", resource = ""] = name.includes(".") ? name.split(".") : ["requests", name];
  if (objectAt(pod, "spec", "resources", field)[resource] !== undefined) return [];
  const containers = [...objectsAt(pod, "spec", "containers"), ...objectsAt(pod, "spec", "initContainers")];
  const without = containers.filter((each) => objectAt(each, "resources", field)[resource] === undefined);
  return without.map((each) => stringAt(each, "name")).sort();
}

function usedOf(request: AdmissionRequest, quota: UnstructuredObject, pending: PendingObjects): ResourceAmounts {
  const { namespace, reader, definition } = request;
  // The check is only about this request's kind, so it counts nothing else.
  const { group, resource } = definition;
  const limited = Object.keys(objectAt(quota, "spec", "hard"));
  if (!limited.some((name) => quotaResource(name).join("/") === `${group}/${resource}`)) return {};
  const stored = reader.list(group, resource, namespace);
  const objects = pending.over(request, stored);
  return objects
    .filter((each) => inQuotaScope(quota, group, resource, each))
    .map((each) => quotaUsage(group, resource, each))
    .reduce(addAmounts, {});
}

/** Objects that were allowed a moment ago, by their kind, namespace and name. */
class PendingObjects {
  readonly #objects = new Map<string, Pending>();

  add({ definition, namespace, name, clock }: AdmissionRequest, object: UnstructuredObject): void {
    const now = clock.now();
    for (const [key, { untilMs }] of this.#objects) {
      if (untilMs > now) break;
      this.#objects.delete(key);
    }
    const key = keyOf(definition, namespace, name);
    // Taken out first, so that the oldest stay in front.
    this.#objects.delete(key);
    this.#objects.set(key, { object: structuredClone(object), untilMs: now + pendingMs });
  }

  forget({ definition, namespace, name }: AdmissionRequest): void {
    if (this.#objects.size > 0) this.#objects.delete(keyOf(definition, namespace, name));
  }

  /**
   * The stored objects, and those allowed in their place or beside them; without the one that is asked about.
   */
  over(
    { definition, namespace, name, clock, operation }: AdmissionRequest,
    stored: readonly UnstructuredObject[],
  ): readonly UnstructuredObject[] {
    if (this.#objects.size === 0) return stored;
    const now = clock.now();
    const prefix = keyOf(definition, namespace, "");
    const own = prefix + name;
    const byKey = new Map(stored.map((each) => [prefix + (each.metadata.name ?? ""), each]));
    for (const [key, { object, untilMs }] of this.#objects) {
      if (!key.startsWith(prefix) || untilMs <= now || (key === own && operation === "CREATE")) continue;
      const present = byKey.get(key);
      const isNewer = present === undefined || present.metadata.uid === object.metadata.uid;
      if (isNewer && !hasCaughtUp(present, object)) byKey.set(key, object);
    }
    return [...byKey.values()];
  }
}

/** Whether the store shows the object after the write that was allowed, or after a later one. */
function hasCaughtUp(present: UnstructuredObject | undefined, allowed: UnstructuredObject): boolean {
  return present !== undefined && present.metadata.resourceVersion !== allowed.metadata.resourceVersion;
}

function keyOf({ group, resource }: AdmissionRequest["definition"], namespace: string, name: string): string {
  return `${group}/${resource}/${namespace}/${name}`;
}
