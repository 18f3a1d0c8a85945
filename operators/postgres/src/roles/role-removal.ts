/** What becomes of a role when its PostgresRole is deleted. */
import { type ReconcileContext, type Result, seconds, type Stored } from "setpoint";
import { primaryManager } from "../inner/primary-manager.ts";
import { servedCluster } from "../inner/served-cluster.ts";
import type { InnerGateway } from "../instance/inner-gateway.ts";
import { type PostgresRole, roleNameOf } from "./postgres-role.ts";
import { alternatingLogins } from "./role-secret.ts";

/** Nothing else shows that a user has dropped what holds a removal back. */
const retryMs = seconds(5);

export async function removeRole(
  role: Stored<PostgresRole>,
  context: ReconcileContext,
  gateway: InnerGateway,
): Promise<Result | void> {
  const { reclaimPolicy, cluster: clusterName, reassignOwnedTo, password } = role.spec;
  const cluster = servedCluster(clusterName, context, role.metadata.namespace);
  // Roles go with their cluster.
  if (cluster.kind === "missing") return;
  if (cluster.kind === "waiting") return context.requeueAfter(retryMs, `waiting to drop the role: ${cluster.why}`);
  const { uid, generation = 0 } = role.metadata;
  const name = roleNameOf(role);
  context.controller.changesOutside(`drop role ${name}`);
  const at = await primaryManager(cluster, context);
  const request = {
    asked: cluster.asked,
    holder: { uid, revision: generation, adopts: false },
    isRelease: reclaimPolicy === "retain",
  };
  // What a login made belongs to its group.
  const logins = password?.logins === "alternating" ? alternatingLogins(name) : [];
  const heir = reassignOwnedTo === undefined ? {} : { heir: reassignOwnedTo };
  const parts = [...(logins.length === 0 ? [] : [{ names: logins, heir: name }]), { names: [name], ...heir }];
  for (const part of parts) {
    const { heldBack } = await gateway.removeRoles(at, { ...request, ...part }, context.signal);
    if (heldBack.length > 0)
      return context.requeueAfter(
        retryMs,
        `${heldBack.join("; ")}: drop it, or set spec.reassignOwnedTo, or spec.reclaimPolicy: retain`,
      );
  }
}
