/** Reads everything that the plan of a binding needs; changes nothing. */
import { messageOf, type KubeObject } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import { Secret } from "setpoint/kinds";
import type { KindRef, ReconcileContext, Stored } from "setpoint";
import type { EngineControl, UserAdministration, UserCredentials } from "../engine/control.ts";
import { ServiceBinding } from "../kinds/service-binding.ts";
import { bindingSecret, keeperNameOf, keeperSecret, loginOf, outdatedParts, secretNameOf } from "./binding-secret.ts";
import { cachedAccess, withoutSecrets } from "./instance-access.ts";
import type { OverlapTimer } from "./overlap-timer.ts";
import { planBinding } from "./plan-binding.ts";
import {
  publishedCredentials,
  publishedLogin,
  type SeenBinding,
  type SeenInstance,
  type SeenSecret,
  settledLogins,
} from "./seen-binding.ts";

/** An engine whose instances have users. */
export interface EngineWithUsers<Instance extends KubeObject> extends EngineControl<Instance> {
  readonly users: UserAdministration<Instance>;
}

export function hasUsers<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
): engine is EngineWithUsers<Instance> {
  return engine.users !== undefined;
}

/** What an observation uses beyond the API server. */
export interface BindingPorts<Instance extends KubeObject> {
  readonly engine: EngineWithUsers<Instance>;
  readonly overlaps: OverlapTimer;
}

/** Nobody has been asked yet. */
const unproven = { refused: undefined, proven: false, outdated: [], keeperOutdated: [] } as const;

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
  ports: BindingPorts<Instance>,
): Promise<SeenBinding> {
  const seen = await observeWith(cached, async (...key) => context.get(...key), context, ports);
  if (planBinding(seen, context.host.clock.now()).kind !== "act") return seen;
  const { name, namespace } = cached.metadata;
  const now = await context.fresh(ServiceBinding, name, namespace);
  const binding = now?.metadata.uid === cached.metadata.uid ? now : cached;
  return observeWith(binding, context.fresh, context, ports);
}

async function observeWith<Instance extends KubeObject>(
  binding: Stored<ServiceBinding>,
  read: Read,
  context: ReconcileContext,
  { engine, overlaps }: BindingPorts<Instance>,
): Promise<SeenBinding> {
  const { namespace } = binding.metadata;
  const object = await read(engine.kind, binding.spec.instance.name, namespace);
  const secret = seenSecret(binding, await read(Secret, secretNameOf(binding), namespace));
  const instance: SeenInstance | undefined =
    object === undefined
      ? undefined
      : { object, state: engine.state(object), unavailable: engine.users.unavailable?.(object) };
  const keeper = seenSecret(binding, await read(Secret, keeperNameOf(binding), namespace));
  const seen = { binding, engine: engine.name, secretName: secretNameOf(binding), secret, keeper, instance };
  const recorded = binding.status?.logins ?? [];
  const published = publishedLogin({ secret, logins: recorded });
  const isReady = instance?.state.serving === true && instance.unavailable === undefined;
  if (object === undefined || !isReady || secret.kind !== "ours" || published === undefined)
    return { ...seen, logins: recorded, remainingMs: {}, ...unproven };
  const login = publishedCredentials(seen) ?? secret.login;
  const refused = await refusalOf(object, login, context, engine);
  // In a dry run outside of the cluster, silence says nothing about a login that works.
  if (refused !== undefined && published.state === "Active")
    context.controller.cannotReach(`${engine.kind.kind} "${object.metadata.name}" as user "${login.user}"`);
  const proven = refused === undefined;
  const outdated = proven ? await outdatedIn(binding, object, secret.secret, login, context, engine) : [];
  const keeperOutdated =
    keeper.kind === "ours" ? outdatedParts(keeper.secret, keeperSecret(binding, login)) : ["username"];
  const logins = settledLogins(recorded, secret, proven, timestampAt(context.host.clock.now()));
  const retiring = logins.filter(({ state }) => state === "Retiring");
  const { overlap } = binding.spec.rotation;
  const remainingMs = Object.fromEntries(
    retiring.map((each) => [each.user, overlaps.remainingMs(each, overlap, context)]),
  );
  return { ...seen, logins, remainingMs, refused, proven, outdated, keeperOutdated };
}

function seenSecret(binding: Stored<ServiceBinding>, secret: Stored<Secret> | undefined): SeenSecret {
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return { kind: "absent" };
  const isOurs = secret.metadata.ownerReferences?.some(({ uid }) => uid === binding.metadata.uid) ?? false;
  return isOurs ? { kind: "ours", secret, login: loginOf(secret) } : { kind: "taken" };
}

async function refusalOf<Instance extends KubeObject>(
  object: Stored<Instance>,
  login: UserCredentials,
  context: ReconcileContext,
  { users }: EngineWithUsers<Instance>,
): Promise<string | undefined> {
  const access = cachedAccess(context, object.metadata.namespace);
  try {
    await withoutSecrets([login.password], () => users.proveLogin(object, login, access));
    return undefined;
  } catch (error) {
    context.signal.throwIfAborted();
    return messageOf(error);
  }
}

async function outdatedIn<Instance extends KubeObject>(
  binding: Stored<ServiceBinding>,
  object: Stored<Instance>,
  secret: Secret,
  login: UserCredentials,
  context: ReconcileContext,
  { users, name }: EngineWithUsers<Instance>,
): Promise<readonly string[]> {
  const access = cachedAccess(context, object.metadata.namespace);
  const connection = await withoutSecrets([login.password], () => users.connection(object, login, access));
  return outdatedParts(secret, bindingSecret(binding, name, login, connection));
}
