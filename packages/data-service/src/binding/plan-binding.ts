/**
 * Decides the next step for a binding; pure. The order is the promise: a login is recorded before it is
 * created, proven before it is published, and the old one goes only after the new one works and the overlap has
 * passed.
 */
import { act as actOn, minutes, parseDuration, rest, type Step, wait } from "setpoint";
import type { Login } from "../kinds/service-binding.ts";
import { publishedLogin, type SeenBinding } from "./seen-binding.ts";

type NewLogin = Pick<Login, "user" | "generation">;

export interface BindingActions {
  /** Creates the user with a new password, logs in as it, and writes the Secret. */
  readonly issueLogin: NewLogin;
  /** Gives the user the password that the Secret has, and the rights of the spec. */
  readonly restoreLogin: { readonly user: string };
  /** Gives the user the rights of the spec. */
  readonly grantRights: { readonly user: string };
  /** Brings the Secret up to how the instance is reached now. */
  readonly publishConnection: { readonly keys: readonly string[] };
  readonly dropLogin: { readonly user: string; readonly heir: string };
}

export type BindingStep = Step<BindingActions>;

/** How often a login is proven at rest: no watch shows that a user was dropped by hand or by a restore. */
export const proofMs: number = minutes(5);
/** A watch shows what a waiting binding waits for; this is for a watch that misses it. */
const waitMs = minutes(1);
/** The status keeps whole seconds, so a moment may be later than it says. */
const roundingMs = 1_000;
/** More logins than these at once would mean that old ones are never dropped. */
const loginsMax = 4;

export function planBinding(seen: SeenBinding, nowMs: number): BindingStep {
  return planWait(seen) ?? planPublished(seen) ?? planRetired(seen, nowMs) ?? planRotation(seen, nowMs);
}

function act<Name extends keyof BindingActions>(action: Name, args: BindingActions[Name], reason: string): BindingStep {
  return actOn<BindingActions, Name>(action, args, reason);
}

function planWait({ binding, instance, secret, secretName }: SeenBinding): BindingStep | undefined {
  const { kind, name } = binding.spec.instance;
  if (instance === undefined) return wait(`${kind} "${name}" does not exist`, waitMs);
  if (instance.object.metadata.deletionTimestamp !== undefined)
    return wait(`${kind} "${name}" is being deleted`, waitMs);
  if (secret.kind === "taken")
    return wait(`Secret "${secretName}" belongs to another owner; delete it, or set spec.secretName`, waitMs);
  const { serving, waitingFor } = instance.state;
  if (serving) return undefined;
  return wait(`${kind} "${name}" does not serve${waitingFor === undefined ? "" : `: ${waitingFor}`}`, waitMs);
}

/** The login in the Secret comes first: applications use it. */
function planPublished(seen: SeenBinding): BindingStep | undefined {
  const published = publishedLogin(seen);
  if (published === undefined) return issue(seen, "no login is published");
  const { user } = published;
  if (!seen.proven) return act("restoreLogin", { user }, `user ${user} cannot log in: ${seen.refused ?? "not asked"}`);
  if (!isEqual(published.rights, seen.binding.spec.rights))
    return act("grantRights", { user }, `the rights of user ${user} are not those of the spec`);
  if (seen.outdatedKeys.length > 0)
    return act(
      "publishConnection",
      { keys: seen.outdatedKeys },
      `the Secret is out of date: ${seen.outdatedKeys.join(", ")}`,
    );
  return undefined;
}

/** Continues with a login that is recorded, so that no user is left behind. */
function issue(seen: SeenBinding, why: string): BindingStep {
  const login = nextLogin(seen);
  return act("issueLogin", login, `${why}: creating user ${login.user}`);
}

/** The login that `issueLogin` is about: one that is recorded and not published, or a new one. */
export function nextLogin({ binding, logins }: Pick<SeenBinding, "binding" | "logins">): NewLogin {
  const pending = logins.find(({ state }) => state === "Pending");
  if (pending !== undefined) return { user: pending.user, generation: pending.generation };
  const generation = (binding.status?.generation ?? 0) + 1;
  return { user: `sb-${binding.metadata.uid}-${generation}`, generation };
}

function planRetired(seen: SeenBinding, nowMs: number): BindingStep | undefined {
  const published = publishedLogin(seen);
  const over = seen.logins.find((login) => isRetiring(login) && retiresAtMs(seen, login) <= nowMs);
  if (over === undefined || published?.state !== "Active" || !seen.proven) return undefined;
  return act(
    "dropLogin",
    { user: over.user, heir: published.user },
    `user ${over.user} was replaced at ${over.since}, and the overlap of ${seen.binding.spec.rotation.overlap} has passed`,
  );
}

function planRotation(seen: SeenBinding, nowMs: number): BindingStep {
  const rotateAtMs = nextRotationMs(seen);
  const { request } = seen.binding.spec.rotation;
  const isRequested = request !== undefined && request !== seen.binding.status?.rotationRequest;
  const isPending = seen.logins.some(({ state }) => state === "Pending");
  if (isPending || ((isRequested || rotateAtMs <= nowMs) && seen.logins.length < loginsMax))
    return issue(seen, isRequested ? `rotation "${request}" is requested` : "the login is to be rotated");
  const retiresMs = seen.logins.filter(isRetiring).map((login) => retiresAtMs(seen, login));
  const nextMs = Math.min(rotateAtMs, ...retiresMs);
  return rest(Math.min(proofMs, Math.max(nextMs - nowMs, 1)));
}

function isRetiring({ state }: Login): boolean {
  return state === "Retiring";
}

function retiresAtMs({ binding }: SeenBinding, { since }: Login): number {
  return Date.parse(since) + roundingMs + parseDuration(binding.spec.rotation.overlap);
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
