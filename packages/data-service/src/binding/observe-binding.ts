/** Reads everything that the plan of a binding needs; changes nothing. */
import { messageOf, type KubeObject } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import { Secret } from "setpoint/kinds";
import type { KindRef, ReconcileContext, Stored } from "setpoint";
import type { EngineControl, UserAdministration } from "../engine/control.ts";
import { ServiceBinding } from "../kinds/service-binding.ts";
import { bindingEntries, loginOf, outdatedKeys, secretNameOf } from "./binding-secret.ts";
import { instanceAccess, withoutSecrets } from "./instance-access.ts";
import { planBinding } from "./plan-binding.ts";
import { publishedLogin, type SeenBinding, type SeenInstance, type SeenSecret, settledLogins } from "./seen-binding.ts";

/** An engine whose instances have users. */
export interface EngineWithUsers<Instance extends KubeObject> extends EngineControl<Instance> {
  readonly users: UserAdministration<Instance>;
}

/** How an observation reads objects. */
type Read = <T extends KubeObject>(
  kind: KindRef<T>,
  name: string,
  namespace?: string,
) => Promise<Stored<T> | undefined>;

/**
 * At rest the cache is enough. Before a step everything is read from the server: a late view of the status or
 * the Secret would give a login that is in use another password.
 */
export async function observeBinding<Instance extends KubeObject>(
  cached: Stored<ServiceBinding>,
  context: ReconcileContext,
  engine: EngineWithUsers<Instance>,
): Promise<SeenBinding> {
  const seen = await observeWith(cached, async (...key) => context.get(...key), context, engine);
  if (planBinding(seen, context.clock.now()).kind !== "act") return seen;
  const { name, namespace } = cached.metadata;
  const now = await context.fresh(ServiceBinding, name, namespace);
  const binding = now?.metadata.uid === cached.metadata.uid ? now : cached;
  return observeWith(binding, context.fresh, context, engine);
}

async function observeWith<Instance extends KubeObject>(
  binding: Stored<ServiceBinding>,
  read: Read,
  context: ReconcileContext,
  engine: EngineWithUsers<Instance>,
): Promise<SeenBinding> {
  const { namespace } = binding.metadata;
  const object = await read(engine.kind, binding.spec.instance.name, namespace);
  const secret = seenSecret(binding, await read(Secret, secretNameOf(binding), namespace));
  const instance: SeenInstance | undefined = object === undefined ? undefined : { object, state: engine.state(object) };
  const seen = { binding, engine: engine.name, secretName: secretNameOf(binding), secret, instance };
  const recorded = binding.status?.logins ?? [];
  const published = publishedLogin({ secret, logins: recorded });
  if (object === undefined || instance?.state.serving !== true || secret.kind !== "ours" || published === undefined)
    return { ...seen, logins: recorded, refused: undefined, proven: false, outdatedKeys: [] };
  const refused = await refusalOf(object, secret, context, engine);
  const proven = refused === undefined;
  const keys = proven ? await outdated(object, secret, context, engine) : [];
  const logins = settledLogins(recorded, secret, proven, timestampAt(context.clock.now()));
  return { ...seen, logins, refused, proven, outdatedKeys: keys };
}

function seenSecret(binding: Stored<ServiceBinding>, secret: Stored<Secret> | undefined): SeenSecret {
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return { kind: "absent" };
  const isOurs = secret.metadata.ownerReferences?.some(({ uid }) => uid === binding.metadata.uid) ?? false;
  return isOurs ? { kind: "ours", secret, login: loginOf(secret) } : { kind: "taken" };
}

type OurSecret = Extract<SeenSecret, { kind: "ours" }>;

async function refusalOf<Instance extends KubeObject>(
  object: Stored<Instance>,
  { login }: OurSecret,
  context: ReconcileContext,
  { users }: EngineWithUsers<Instance>,
): Promise<string | undefined> {
  const access = instanceAccess(context, object.metadata.namespace);
  try {
    await withoutSecrets([login.password], () => users.proveLogin(object, login, access));
    return undefined;
  } catch (error) {
    context.signal.throwIfAborted();
    return messageOf(error);
  }
}

async function outdated<Instance extends KubeObject>(
  object: Stored<Instance>,
  { secret, login }: OurSecret,
  context: ReconcileContext,
  { users, name }: EngineWithUsers<Instance>,
): Promise<readonly string[]> {
  const access = instanceAccess(context, object.metadata.namespace);
  const connection = await withoutSecrets([login.password], () => users.connection(object, login, access));
  return outdatedKeys(secret, bindingEntries(name, login, connection));
}
