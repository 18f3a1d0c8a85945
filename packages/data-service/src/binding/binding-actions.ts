/** Performs the steps of a binding. Each is idempotent and decides nothing. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Random } from "@setpoint/host";
import type { ReconcileContext, Stored } from "setpoint";
import type { Secret } from "setpoint/kinds";
import type { UserCredentials } from "../engine/control.ts";
import { bindingSecret, keeperSecret, secretPatch } from "./binding-secret.ts";
import { statusWith, withRights } from "./binding-status.ts";
import { cachedAccess, withoutSecrets } from "./instance-access.ts";
import type { BindingPorts } from "./observe-binding.ts";
import type { BindingActions } from "./plan-binding.ts";
import { publishedCredentials, type SeenBinding, type SeenSecret } from "./seen-binding.ts";

type ActionFunctions = {
  readonly [Name in keyof BindingActions]: (
    args: BindingActions[Name],
    context: ReconcileContext,
    seen: SeenBinding,
  ) => Promise<void>;
};

/** 192 bits. */
const passwordBytes = 24;

export function newPassword(random: Random): string {
  return Buffer.from(random.bytes(passwordBytes)).toString("base64url");
}

/** The steps for one engine. */
export function bindingActions<Instance extends KubeObject>({
  engine,
  overlaps,
}: BindingPorts<Instance>): ActionFunctions {
  const { users } = engine;
  /** Creates or changes a user, and proves that it can log in. */
  const ensureLogin = async (login: UserCredentials, context: ReconcileContext, seen: SeenBinding): Promise<void> => {
    const instance = instanceOf<Instance>(seen);
    const access = cachedAccess(context, instance.metadata.namespace);
    context.controller.changesOutside(`create or change user "${login.user}"`);
    await withoutSecrets([login.password], async () => {
      await users.ensureUser(instance, login, seen.binding.spec.rights, access);
      await users.proveLogin(instance, login, access);
    });
  };
  const publish = async (login: UserCredentials, context: ReconcileContext, seen: SeenBinding): Promise<void> => {
    const instance = instanceOf<Instance>(seen);
    const access = cachedAccess(context, instance.metadata.namespace);
    const connection = await withoutSecrets([login.password], () => users.connection(instance, login, access));
    await writeSecret(bindingSecret(seen.binding, engine.name, login, connection), seen.secret, context);
  };
  const restoreLogin = async (context: ReconcileContext, seen: SeenBinding): Promise<void> => {
    const login = publishedCredentials(seen);
    if (login === undefined) return;
    await ensureLogin(login, context, seen);
    await context.status(statusWith(seen, { logins: withRights(seen, login.user) }));
  };
  return {
    prepareLogin: ({ user }, context, seen) =>
      keep({ user, password: newPassword(context.host.random) }, context, seen),
    async keepLogin(_, context, seen) {
      const login = publishedCredentials(seen);
      if (login !== undefined) await keep(login, context, seen);
    },
    async issueLogin({ user, generation }, context, seen) {
      if (seen.keeper.kind !== "ours") return;
      await ensureLogin(seen.keeper.login, context, seen);
      await publish(seen.keeper.login, context, seen);
      context.log.info("Published a login", { user, generation, secret: seen.secretName });
    },
    restoreLogin: (_, context, seen) => restoreLogin(context, seen),
    grantRights: (_, context, seen) => restoreLogin(context, seen),
    async publishConnection(_, context, seen) {
      const login = publishedCredentials(seen);
      if (login !== undefined) await publish(login, context, seen);
    },
    async dropRestored({ users: dropped, heir }, context, seen) {
      const instance = instanceOf<Instance>(seen);
      const access = cachedAccess(context, instance.metadata.namespace);
      context.controller.changesOutside(`drop users ${dropped.join(", ")}`);
      for (const user of dropped) await users.dropUser(instance, user, heir, access);
      await context.status(statusWith(seen, { restored: seen.instance?.state.restored }));
    },
    async dropLogin({ user, heir }, context, seen) {
      const instance = instanceOf<Instance>(seen);
      context.controller.changesOutside(`drop user "${user}"`);
      await users.dropUser(instance, user, heir, cachedAccess(context, instance.metadata.namespace));
      overlaps.forget(user);
      await context.status(statusWith(seen, { logins: seen.logins.filter((login) => login.user !== user) }));
    },
  };
}

/** Keeps a login where only the operator reads it. */
async function keep(login: UserCredentials, context: ReconcileContext, seen: SeenBinding): Promise<void> {
  await writeSecret(keeperSecret(seen.binding, login), seen.keeper, context);
}

/**
 * A late write of an earlier attempt must not replace a newer login, so each write holds only for what was
 * seen.
 */
async function writeSecret(wanted: Secret, present: SeenSecret, { create, patch }: ReconcileContext): Promise<void> {
  if (present.kind === "ours") await patch(present.secret, secretPatch(present.secret, wanted), { unchanged: true });
  else await create(wanted);
}

function instanceOf<Instance extends KubeObject>({ instance, binding }: SeenBinding): Stored<Instance> {
  if (instance === undefined)
    throw new Error(
      `Cannot change users of ${binding.spec.instance.kind} "${binding.spec.instance.name}": it does not exist`,
    );
  // The engine's kind has read it.
  return instance.object as Stored<Instance>;
}
