/** The roles that should be in PostgreSQL for one PostgresRole; pure. */
import { parseDuration } from "setpoint";
import { verifierOf } from "../inner/password-verifier.ts";
import type { RoleAttributes, RoleDefinition } from "../instance/inner-protocol.ts";
import { type PostgresRole, roleNameOf } from "./postgres-role.ts";
import { alternatingLogins, type GeneratedSecret, type RoleLogin } from "./role-secret.ts";
import type { SeenPassword } from "./role-seen.ts";

interface Identity {
  readonly role: PostgresRole;
  readonly uid: string;
}

/** `others` are the roles that exist already; a login that never was is not created to be disabled. */
export function wantedRoles({ role, uid }: Identity, password: SeenPassword, nowMs: number): readonly RoleDefinition[] {
  const name = roleNameOf(role);
  const main = { name, attributes: attributesOf(role), memberOf: role.spec.memberOf.toSorted() };
  if (password.kind === "none") return [{ ...main, verifier: null }];
  if (password.kind === "given") return [{ ...main, verifier: password.verifier }];
  if (password.kind !== "generated") return [main];
  if (role.spec.password?.logins !== "alternating") return [{ ...main, ...verifierIn(password, name, uid) }];
  const group = { ...main, attributes: { ...main.attributes, login: false }, verifier: null, endsSessions: true };
  return [group, ...alternatingLogins(name).map((user) => loginOf(user, group, password, { role, uid }, nowMs))];
}

function attributesOf({ spec }: PostgresRole): RoleAttributes {
  const { login, createDatabase, createRole, inherit, connectionLimit, validUntil } = spec;
  return {
    ...{ login, createDatabase, createRole, inherit, connectionLimit },
    validUntil: validUntil === undefined ? null : new Date(validUntil).toISOString().replace(/\.\d+Z$/, "Z"),
  };
}

/** The newest password that there is: it becomes public when the server has it. */
function verifierIn({ current, next }: GeneratedSecret, user: string, uid: string): { readonly verifier?: string } {
  const login = [next, current].find((each) => each?.user === user);
  const verifier = login === undefined ? undefined : verifierOf(login.password, uid, user);
  return verifier === undefined ? {} : { verifier };
}

function loginOf(
  user: string,
  group: RoleDefinition,
  password: GeneratedSecret,
  { role, uid }: Identity,
  nowMs: number,
): RoleDefinition {
  const isUsed = [password.next, password.current].some((login: RoleLogin | undefined) => login?.user === user);
  const isOverlapping = nowMs < overlapEndMs(role, password);
  const may = role.spec.login && (isUsed || isOverlapping);
  return {
    name: user,
    attributes: { ...group.attributes, login: may, createDatabase: false, createRole: false, inherit: true },
    memberOf: [group.name],
    actsAs: group.name,
    endsSessions: true,
    ...(isUsed ? verifierIn(password, user, uid) : may ? {} : { verifier: null }),
  };
}

/** Until when the login before still works. */
export function overlapEndMs({ spec }: PostgresRole, { sinceMs }: GeneratedSecret): number {
  return sinceMs + parseDuration(spec.password?.rotation.overlap ?? "1h");
}
