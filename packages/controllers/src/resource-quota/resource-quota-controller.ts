import { addAmounts, formatQuantity, inQuotaScope, quotaResource, quotaUsage } from "@setpoint/apimachinery";
import type { KubeObject, ResourceAmounts, UnstructuredObject } from "@setpoint/apimachinery";
import { ResourceQuota } from "@setpoint/api";
import { controller, type ControllerDefinition, type ReconcileContext, watching } from "@setpoint/runtime";
import { findCached, cachedKinds } from "./cached-kinds.ts";
import { listFromServer } from "./list-from-server.ts";

/** Admission counts for itself and needs no status; people see theirs this late at most. */
const countPeriodMs = 2_000;

/** Shows in the status of every ResourceQuota what its namespace uses of it. */
export const resourceQuotas: ControllerDefinition = controller(ResourceQuota, {
  name: "resourcequota-controller",
  predicate: () => true,
  watches: cachedKinds.map((kind) =>
    watching(kind, ({ metadata: { namespace } }, cache) =>
      cache.list(ResourceQuota, { namespace }).map(({ metadata: { name } }) => ({ name, namespace: namespace ?? "" })),
    ),
  ),
  async reconcile(quota, context) {
    const hard = quota.spec.hard ?? {};
    const names = Object.keys(hard);
    const used = await countUsed(quota, names, context);
    const { status = {} } = quota;
    if (!isSame(status.hard ?? {}, hard) || !isSame(status.used ?? {}, used)) {
      const next = { hard: withRemovals(hard, status.hard), used: withRemovals(used, status.used) };
      const { name, namespace = "", uid } = quota.metadata;
      const patch = { metadata: { uid }, status: next };
      await context.client.patch(ResourceQuota, { name, namespace }, patch, { subresource: "status" });
    }
    if (names.map(quotaResource).every(([group, resource]) => findCached(group, resource) !== undefined))
      return context.awaitChange();
    return context.requeueAfter(countPeriodMs, "count what the namespace uses of kinds that are not watched");
  },
});

type Amounts = Readonly<Record<string, string>>;

function isSame(one: Amounts, other: Amounts): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** A merge patch removes what it sets to null. */
function withRemovals(wanted: Amounts, present: Amounts | undefined): Readonly<Record<string, string | null>> {
  const gone = Object.keys(present ?? {}).filter((name) => wanted[name] === undefined);
  return { ...wanted, ...Object.fromEntries(gone.map((name) => [name, null])) };
}

async function countUsed(quota: ResourceQuota, names: readonly string[], context: ReconcileContext): Promise<Amounts> {
  const resources = new Map(names.map((name) => [quotaResource(name).join("/"), quotaResource(name)]));
  let total: ResourceAmounts = {};
  for (const [group, resource] of resources.values()) {
    const kind = findCached(group, resource);
    const objects =
      kind === undefined
        ? await listFromServer(group, resource, quota.metadata.namespace ?? "", context)
        : context.list(kind).map(asUnstructured);
    const counted = objects.filter((each) => inQuotaScope(quota, group, resource, each));
    total = counted.map((each) => quotaUsage(group, resource, each)).reduce(addAmounts, total);
  }
  return Object.fromEntries(
    names.map((name) => {
      const amount = total[name];
      return [name, amount === undefined ? "0" : formatQuantity(amount)];
    }),
  );
}

/** What the cache holds is what the server sent. */
function asUnstructured(object: KubeObject): UnstructuredObject {
  return object as KubeObject & UnstructuredObject;
}
