/** The PostgresCluster that a role, a database or a pooler is of, and whether its primary can be asked. */
import type { ReconcileContext, Stored } from "setpoint";
import type { Addressee } from "../instance/inner-protocol.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";

export type ServedCluster =
  | { readonly kind: "missing"; readonly why: string }
  | { readonly kind: "waiting"; readonly why: string; readonly cluster: Stored<PostgresCluster> }
  | { readonly kind: "serving"; readonly asked: Addressee; readonly cluster: Stored<PostgresCluster> };

/** From the cache: a watch shows its changes. */
export function servedCluster(name: string, { get }: ReconcileContext, namespace: string | undefined): ServedCluster {
  return judgeCluster(name, get(PostgresCluster, name, namespace));
}

export function judgeCluster(name: string, cluster: Stored<PostgresCluster> | undefined): ServedCluster {
  const what = `PostgresCluster "${name}"`;
  if (cluster === undefined) return { kind: "missing", why: `${what} does not exist` };
  if (cluster.metadata.deletionTimestamp !== undefined) return { kind: "missing", why: `${what} is being deleted` };
  const { primary, term, handover, waitingFor } = cluster.status ?? {};
  if (primary === undefined || term === undefined || handover !== undefined || !isAvailable(cluster)) {
    const reason = waitingFor === undefined ? "" : `: ${waitingFor.what}`;
    return { kind: "waiting", why: `${what} has no primary that accepts writes at the moment${reason}`, cluster };
  }
  return { kind: "serving", asked: { primary, term }, cluster };
}

/** What of a cluster its inner objects depend on. */
export function servingFacts(cluster: Stored<PostgresCluster>): string {
  const { primary, term, handover, restored, systemID, formerPrimary, pausing } = cluster.status ?? {};
  const { uid, deletionTimestamp } = cluster.metadata;
  return JSON.stringify([
    ...[uid, deletionTimestamp, primary, term, handover, restored, systemID, isAvailable(cluster)],
    ...[cluster.spec.version, formerPrimary, pausing?.for],
  ]);
}

function isAvailable({ status }: Stored<PostgresCluster>): boolean {
  const conditions = (status?.conditions ?? []) as readonly { readonly type?: unknown; readonly status?: unknown }[];
  return conditions.some(({ type, status: is }) => type === "Available" && is === "True");
}
