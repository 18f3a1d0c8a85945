/** Performs the steps of a binding. Each is idempotent and decides nothing. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Random } from "@setpoint/host";
import type { ReconcileContext, Stored } from "setpoint";
import type { UserCredentials } from "../engine/control.ts";
import { bindingEntries, bindingSecret, dataPatch } from "./binding-secret.ts";
import { statusWith } from "./binding-status.ts";
import { instanceAccess, withoutSecrets } from "./instance-access.ts";
import type { EngineWithUsers } from "./observe-binding.ts";
import type { BindingActions } from "./plan-binding.ts";
import type { SeenBinding } from "./seen-binding.ts";

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
export function bindingActions<Instance extends KubeObject>(engine: EngineWithUsers<Instance>): ActionFunctions {
  const { users } = engine;
  /** Creates or changes a user, and proves that it can log in. */
  const ensureLogin = async (login: UserCredentials, context: ReconcileContext, seen: SeenBinding): Promise<void> => {
    const instance = instanceOf<Instance>(seen);
    const access = instanceAccess(context, instance.metadata.namespace);
    await withoutSecrets([login.password], async () => {
      await users.ensureUser(instance, login, seen.binding.spec.rights, access);
      await users.proveLogin(instance, login, access);
    });
  };
  const publish = async (login: UserCredentials, context: ReconcileContext, seen: SeenBinding): Promise<void> => {
    const instance = instanceOf<Instance>(seen);
    const access = instanceAccess(context, instance.metadata.namespace);
    const connection = await withoutSecrets([login.password], () => users.connection(instance, login, access));
    await writeSecret(bindingEntries(engine.name, login, connection), context, seen);
  };
  const restoreLogin = async (context: ReconcileContext, seen: SeenBinding): Promise<void> => {
    if (seen.secret.kind !== "ours") return;
    await ensureLogin(seen.secret.login, context, seen);
    const { rights } = seen.binding.spec;
    const { user } = seen.secret.login;
    const logins = seen.logins.map((login) => (login.user === user ? { ...login, rights } : login));
    await context.status(statusWith(seen, { logins }));
  };
  return {
    async issueLogin({ user, generation }, context, seen) {
      const login = { user, password: newPassword(context.random) };
      await ensureLogin(login, context, seen);
      await publish(login, context, seen);
      context.log.info("Published a login", { user, generation, secret: seen.secretName });
    },
    restoreLogin: (_, context, seen) => restoreLogin(context, seen),
    grantRights: (_, context, seen) => restoreLogin(context, seen),
    async publishConnection(_, context, seen) {
      if (seen.secret.kind === "ours") await publish(seen.secret.login, context, seen);
    },
    async dropLogin({ user, heir }, context, seen) {
      const instance = instanceOf<Instance>(seen);
      await users.dropUser(instance, user, heir, instanceAccess(context, instance.metadata.namespace));
      await context.status(statusWith(seen, { logins: seen.logins.filter((login) => login.user !== user) }));
    },
  };
}

/** A late write of an earlier attempt must not replace a newer login, so each write holds only for what was seen. */
async function writeSecret(
  entries: Readonly<Record<string, string>>,
  { create, patch }: ReconcileContext,
  { binding, engine, secret }: SeenBinding,
): Promise<void> {
  if (secret.kind === "ours") await patch(secret.secret, dataPatch(secret.secret, entries), { unchanged: true });
  else await create(bindingSecret(binding, engine, entries));
}

function instanceOf<Instance extends KubeObject>({ instance, binding }: SeenBinding): Stored<Instance> {
  if (instance === undefined)
    throw new Error(
      `Cannot change users of ${binding.spec.instance.kind} "${binding.spec.instance.name}": it does not exist`,
    );
  // The engine's kind has read it.
  return instance.object as Stored<Instance>;
}
