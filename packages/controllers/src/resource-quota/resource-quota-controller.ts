import { ResourceQuota } from "@setpoint/api";
import { addAmounts, formatQuantity, inQuotaScope, quotaResource, quotaUsage } from "@setpoint/apimachinery";
import type { KubeList, ResourceAmounts, UnstructuredObject } from "@setpoint/apimachinery";
import { controller, type ControllerDefinition, type ReconcileContext } from "@setpoint/runtime";

/** Admission counts for itself and needs no status; people see theirs this late at most. */
const countPeriodMs = 2_000;

/** Shows in the status of every ResourceQuota what its namespace uses of it. */
export const resourceQuotas: ControllerDefinition = controller(ResourceQuota, {
  name: "resourcequota-controller",
  predicate: () => true,
  async reconcile(quota, context) {
    const hard = quota.spec.hard ?? {};
    const used = await countUsed(quota, Object.keys(hard), context);
    const { status = {} } = quota;
    if (!isSame(status.hard ?? {}, hard) || !isSame(status.used ?? {}, used)) {
      const next = { hard: withRemovals(hard, status.hard), used: withRemovals(used, status.used) };
      const { name, namespace = "" } = quota.metadata;
      await context.client.patch(ResourceQuota, { name, namespace }, { status: next }, { subresource: "status" });
    }
    return context.requeueAfter(countPeriodMs, "count what the namespace uses");
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
    const objects = await listObjects(group, resource, quota.metadata.namespace ?? "", context);
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

/** A quota may count a kind that is not served: there are none of it then. */
async function listObjects(
  group: string,
  resource: string,
  namespace: string,
  context: ReconcileContext,
): Promise<readonly UnstructuredObject[]> {
  const root = group === "" ? "/api/v1" : await preferredVersion(group, context);
  if (root === undefined) return [];
  const list = await get(
    `${root}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(resource)}`,
    context,
  );
  return ((list as KubeList | undefined)?.items ?? []) as readonly UnstructuredObject[];
}

async function preferredVersion(group: string, context: ReconcileContext): Promise<string | undefined> {
  const found = await get(`/apis/${encodeURIComponent(group)}`, context);
  const version = (found as { readonly preferredVersion?: { readonly groupVersion?: string } } | undefined)
    ?.preferredVersion?.groupVersion;
  return version === undefined ? undefined : `/apis/${version}`;
}

async function get(path: string, { client, signal }: ReconcileContext): Promise<unknown> {
  const answer = await client.request({ method: "GET", path }, { signal });
  return answer.kind === "object" && answer.status < 300 ? answer.object : undefined;
}
