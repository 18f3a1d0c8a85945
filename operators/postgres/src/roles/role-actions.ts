/** Performs the steps of a role. Each is idempotent and decides nothing. */
import { timestampAt } from "@setpoint/host";
import type { ReconcileContext } from "setpoint";
import { primaryManager } from "../inner/primary-manager.ts";
import type { InnerGateway } from "../instance/inner-gateway.ts";
import { type RoleActions, rolesToChange } from "./plan-role.ts";
import { newSecret, nextEntries, publication } from "./role-secret.ts";
import type { SeenRole } from "./role-seen.ts";

type ActionFunctions = {
  readonly [Name in keyof RoleActions]: (
    args: RoleActions[Name],
    context: ReconcileContext,
    seen: SeenRole,
  ) => Promise<void>;
};

/** 192 bits. */
const passwordBytes = 24;

export function roleActions(gateway: InnerGateway): ActionFunctions {
  return {
    async preparePassword({ user }, context, { role, password }) {
      const login = { user, password: Buffer.from(context.host.random.bytes(passwordBytes)).toString("base64url") };
      if (password.kind !== "generated") return void (await context.create(newSecret(role, login)));
      await context.patch(password.secret, { data: nextEntries(login) }, { unchanged: true });
    },

    async changeRoles({ names }, context, seen) {
      const { role, cluster } = seen;
      if (cluster.kind !== "serving") return;
      context.controller.changesOutside(`change role ${names.join(", ")}`);
      const { uid, generation = 0 } = role.metadata;
      const holder = { uid, revision: generation, adopts: role.spec.adopt };
      const at = await primaryManager(cluster, context);
      await gateway.changeRoles(at, { asked: cluster.asked, holder, roles: rolesToChange(seen) }, context.signal);
      context.log.info("Changed roles", { roles: names, cluster: role.spec.cluster });
    },

    async publishPassword({ user }, context, { role, cluster, password }) {
      if (password.kind !== "generated" || password.next === undefined || cluster.kind === "missing") return;
      const now = timestampAt(context.host.clock.now());
      const patch = publication(role, cluster.cluster, password.next, now);
      await context.patch(password.secret, patch, { unchanged: true });
      context.event("Normal", "PasswordPublished", `Secret "${password.secret.metadata.name}" has the login ${user}`);
    },
  };
}
