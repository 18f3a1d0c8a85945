/** Whether the Secrets with the login to another server are there, before a pod waits; changes nothing. */
import { isNotFound, type ReconcileContext } from "setpoint";
import { Secret } from "setpoint/kinds";
import { type MountedKey, otherServerKeys } from "../kind/other-server-keys.ts";
import type { ParameterRefusal } from "../kind/parameters.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

export async function observeOtherServerSecrets(
  cluster: PostgresCluster,
  context: ReconcileContext,
): Promise<readonly ParameterRefusal[]> {
  const namespace = cluster.metadata.namespace ?? "";
  const problems = await Promise.all(otherServerKeys(cluster).map((key) => problemOf(key, namespace, context)));
  return problems.filter((each) => each !== undefined);
}

/** Asked without the cache, which has only Secrets with the operator's labels. */
async function problemOf(
  { field, name, key }: MountedKey,
  namespace: string,
  { client, signal }: ReconcileContext,
): Promise<ParameterRefusal | undefined> {
  const secret = await client.get(Secret, { name, namespace }, { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  if (secret === undefined)
    return { field, why: `there is no Secret "${name}" in namespace "${namespace}"; create it with the key "${key}"` };
  if (secret.data?.[key] !== undefined) return undefined;
  const present = Object.keys(secret.data ?? {}).join(", ") || "none";
  return { field, why: `Secret "${name}" has no key "${key}"; expected it beside its present keys: ${present}` };
}
