/** Objects of kinds that no cache of the quota controller holds. */
import type { KubeList, UnstructuredObject } from "@setpoint/apimachinery";
import type { ReconcileContext } from "@setpoint/runtime";

/** A quota may count a kind that is not served: there are none of it then. */
export async function listFromServer(
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
