/**
 * One snapshot of a binding: what is wanted, what the instance and the Secret show, and which logins there
 * are.
 */
import type { Secret } from "setpoint/kinds";
import type { KubeObject, Stored } from "setpoint";
import type { InstanceState, UserCredentials } from "../engine/control.ts";
import type { Login, ServiceBinding } from "../kinds/service-binding.ts";

/** What the Secret of a binding is. */
export type SeenSecret =
  | { readonly kind: "absent" }
  /** Another owner has the name. */
  | { readonly kind: "taken" }
  | { readonly kind: "ours"; readonly secret: Stored<Secret>; readonly login: UserCredentials };

export interface SeenInstance {
  readonly object: Stored<KubeObject>;
  readonly state: InstanceState;
  /** Why it has no users now, and what to set. */
  readonly unavailable?: string | undefined;
}

export interface SeenBinding {
  readonly binding: Stored<ServiceBinding>;
  readonly engine: string;
  readonly secretName: string;
  /** Undefined when there is none. */
  readonly instance: SeenInstance | undefined;
  /** What applications read. */
  readonly secret: SeenSecret;
  /**
   * The operator's own copy of the newest login, written before its user is created: every attempt sends the
   * same password, so a late one changes nothing.
   */
  readonly keeper: SeenSecret;
  /**
   * The recorded logins after what this observation shows: a proven one is active, its predecessors retire.
   */
  readonly logins: readonly Login[];
  /** For how long each retiring login still has to work. */
  readonly remainingMs: Readonly<Record<string, number>>;
  /**
   * Why the login in the Secret does not work; undefined when the instance has accepted it, or has not been
   * asked.
   */
  readonly refused: string | undefined;
  /** The instance has accepted the login in the Secret during this observation. */
  readonly proven: boolean;
  /** What of the Secret is not as the instance is reached now. */
  readonly outdated: readonly string[];
  /** What of the operator's copy does not agree with the Secret. */
  readonly keeperOutdated: readonly string[];
}

/**
 * The name and password that applications use: the operator's copy decides, where both name the same user.
 */
export function publishedCredentials({
  secret,
  keeper,
}: Pick<SeenBinding, "secret" | "keeper">): UserCredentials | undefined {
  if (secret.kind !== "ours") return undefined;
  return keeper.kind === "ours" && keeper.login.user === secret.login.user ? keeper.login : secret.login;
}

/** The recorded login that the operator's copy contains. */
export function keptLogin({ keeper, logins }: Pick<SeenBinding, "keeper" | "logins">): Login | undefined {
  if (keeper.kind !== "ours") return undefined;
  return logins.find(({ user, state }) => user === keeper.login.user && state !== "Retiring");
}

/** The login that the Secret contains. */
export function publishedLogin({ secret, logins }: Pick<SeenBinding, "secret" | "logins">): Login | undefined {
  if (secret.kind !== "ours") return undefined;
  return logins.find(({ user }) => user === secret.login.user);
}

/**
 * The recorded logins, brought up to what is seen now. A new instance of the same name has none of the users:
 * the published one is created again with the password that applications have.
 */
export function settledLogins(
  recorded: readonly Login[],
  secret: SeenSecret,
  proven: boolean,
  now: string,
): readonly Login[] {
  const published = publishedLogin({ secret, logins: recorded });
  if (!proven || published === undefined || published.state === "Active") return recorded;
  return recorded.map((login) => {
    if (login === published) return { ...login, state: "Active", since: now };
    return login.state === "Active" ? { ...login, state: "Retiring", since: now } : login;
  });
}
