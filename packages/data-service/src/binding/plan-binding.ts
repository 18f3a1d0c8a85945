/**
 * Decides the next step for a binding; pure. The order is the promise: a login is recorded and its password
 * kept before it is created, it is proven before it is published, and the old one goes only after the new one
 * works and the overlap has passed.
 */
import { act as actOn, minutes, parseDuration, rest, type Step, wait } from "setpoint";
import type { Login } from "../kinds/service-binding.ts";
import { keptLogin, publishedLogin, type SeenBinding } from "./seen-binding.ts";

type NewLogin = Pick<Login, "user" | "generation">;

export interface BindingActions {
  /** Makes a new password for a user that does not exist yet, and keeps it. */
  readonly prepareLogin: NewLogin;
  /** Keeps the login that applications have. */
  readonly keepLogin: { readonly user: string };
  /** Creates the user with the kept password, logs in as it, and writes the Secret. */
  readonly issueLogin: NewLogin;
  /** Gives the user the password that applications have, and the rights of the spec. */
  readonly restoreLogin: { readonly user: string };
  /** Gives the user the rights of the spec. */
  readonly grantRights: { readonly user: string };
  /** Brings the Secret up to how the instance is reached now. */
  readonly publishConnection: { readonly keys: readonly string[] };
  readonly dropLogin: { readonly user: string; readonly heir: string };
  /** Drops users of earlier logins that a restore has brought back. */
  readonly dropRestored: { readonly users: readonly string[]; readonly heir: string };
}

export type BindingStep = Step<BindingActions>;

/** How often a login is proven at rest: no watch shows that a user was dropped by hand or by a restore. */
export const proofMs: number = minutes(5);
/** A watch shows what a waiting binding waits for; this is for a watch that misses it. */
const waitMs = minutes(1);
/** More logins than these at once would mean that old ones are never dropped. */
const loginsMax = 4;

export function planBinding(seen: SeenBinding, nowMs: number): BindingStep {
  return planWait(seen) ?? planPublished(seen) ?? planRestored(seen) ?? planRetired(seen) ?? planRotation(seen, nowMs);
}

function act<Name extends keyof BindingActions>(action: Name, args: BindingActions[Name], reason: string): BindingStep {
  return actOn<BindingActions, Name>(action, args, reason);
}

function planWait({ binding, instance, secret, keeper, secretName }: SeenBinding): BindingStep | undefined {
  const { kind, name } = binding.spec.instance;
  if (instance === undefined) return wait(`${kind} "${name}" does not exist`, waitMs);
  if (instance.object.metadata.deletionTimestamp !== undefined)
    return wait(`${kind} "${name}" is being deleted`, waitMs);
  if (secret.kind === "taken")
    return wait(`Secret "${secretName}" belongs to another owner; delete it, or set spec.secretName`, waitMs);
  if (keeper.kind === "taken")
    return wait(`Secret "${secretName}-login" belongs to another owner; delete it, or set spec.secretName`, waitMs);
  const { serving, waitingFor } = instance.state;
  if (!serving)
    return wait(`${kind} "${name}" does not serve${waitingFor === undefined ? "" : `: ${waitingFor}`}`, waitMs);
  const { unavailable } = instance;
  return unavailable === undefined ? undefined : wait(`${kind} "${name}" has no users: ${unavailable}`, waitMs);
}

/** The login in the Secret comes first: applications use it. */
function planPublished(seen: SeenBinding): BindingStep | undefined {
  const published = publishedLogin(seen);
  if (published === undefined) return issue(seen, "no login is published");
  const { user } = published;
  if (!seen.proven) return act("restoreLogin", { user }, `user ${user} cannot log in: ${seen.refused ?? "not asked"}`);
  if (!isEqual(published.rights, seen.binding.spec.rights))
    return act("grantRights", { user }, `the rights of user ${user} are not those of the spec`);
  const { outdated } = seen;
  if (outdated.length === 0) return undefined;
  return act("publishConnection", { keys: outdated }, `the Secret is out of date: ${outdated.join(", ")}`);
}

/** Continues with a login that is recorded, so that no user is left behind. */
function issue(seen: SeenBinding, why: string): BindingStep {
  const pending = seen.logins.find(({ state }) => state === "Pending");
  const kept = keptLogin(seen);
  if (kept !== undefined && (pending === undefined || kept.user === pending.user))
    return act("issueLogin", { user: kept.user, generation: kept.generation }, `${why}: creating user ${kept.user}`);
  const login = pending === undefined ? newLogin(seen) : { user: pending.user, generation: pending.generation };
  return act("prepareLogin", login, `${why}: making a password for user ${login.user}`);
}

function newLogin({ binding: { metadata, status } }: SeenBinding): NewLogin {
  const generation = (status?.generation ?? 0) + 1;
  return { user: userOf(metadata.uid, generation), generation };
}

/** How many earlier logins a backup may still contain; older ones are dropped by hand. */
const restoredMax = 20;

/** Data from the past contain users that were dropped since, and their passwords may have leaked. */
function planRestored({ binding, instance, logins, ...secrets }: SeenBinding): BindingStep | undefined {
  const { metadata, status } = binding;
  const published = publishedLogin({ ...secrets, logins });
  const restored = instance?.state.restored;
  if (restored === status?.restored || published?.state !== "Active") return undefined;
  const last = published.generation;
  const earlier = Array.from({ length: Math.min(restoredMax, last - 1) }, (_, back) =>
    userOf(metadata.uid, last - 1 - back),
  );
  const users = earlier.filter((user) => !logins.some((login) => login.user === user));
  const reason = `the instance has the data of restore ${restored ?? "none"}: users of earlier logins are dropped again`;
  return act("dropRestored", { users, heir: published.user }, reason);
}

function userOf(uid: string, generation: number): string {
  return `sb-${uid}-${generation}`;
}

function planRetired(seen: SeenBinding): BindingStep | undefined {
  const published = publishedLogin(seen);
  const over = seen.logins.find(({ user, state }) => state === "Retiring" && seen.remainingMs[user] === 0);
  if (over === undefined || published?.state !== "Active" || !seen.proven) return undefined;
  const { overlap } = seen.binding.spec.rotation;
  const reason = `user ${over.user} was replaced at ${over.since}, and the overlap of ${overlap} has passed`;
  return act("dropLogin", { user: over.user, heir: published.user }, reason);
}

function planRotation(seen: SeenBinding, nowMs: number): BindingStep {
  const isPending = seen.logins.some(({ state }) => state === "Pending");
  if (isPending) return issue(seen, "a rotation is under way");
  const why = rotationDue(seen, nowMs);
  if (why !== undefined && seen.logins.length < loginsMax) {
    const login = newLogin(seen);
    return act("prepareLogin", login, `${why}: making a password for user ${login.user}`);
  }
  const published = publishedLogin(seen);
  if (published !== undefined && seen.keeperOutdated.length > 0)
    return act(
      "keepLogin",
      { user: published.user },
      `the operator's copy of login ${published.user} is not as written`,
    );
  const nextMs = Math.min(nextRotationMs(seen) - nowMs, ...Object.values(seen.remainingMs));
  return rest(Math.min(proofMs, Math.max(nextMs, 1)));
}

/** Why the login is to be replaced now. */
export function rotationDue(
  seen: Pick<SeenBinding, "binding" | "secret" | "logins">,
  nowMs: number,
): string | undefined {
  const { request } = seen.binding.spec.rotation;
  if (request !== undefined && request !== seen.binding.status?.rotationRequest)
    return `rotation "${request}" is requested`;
  return nextRotationMs(seen) <= nowMs ? "the login is due" : undefined;
}

/** When the active login is replaced; never without a period. */
export function nextRotationMs(seen: Pick<SeenBinding, "binding" | "secret" | "logins">): number {
  const { every } = seen.binding.spec.rotation;
  const published = publishedLogin(seen);
  if (every === undefined || published?.state !== "Active") return Infinity;
  return Date.parse(published.since) + parseDuration(every);
}

/** Two maps of strings with the same entries. */
export function isEqual(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
