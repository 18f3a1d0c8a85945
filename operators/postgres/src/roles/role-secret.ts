/** The Secret of a role: what it says, and how the operator writes its own. */
import type { Stored } from "setpoint";
import { Secret } from "setpoint/kinds";
import { postgresPort } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { type PostgresRole, roleNameOf } from "./postgres-role.ts";

/** Secrets with it are watched and may be read for a password; the operator's own have it too. */
export const passwordLabel = "postgres.setpoint.dev/role-password";
const marks = {
  /** The request that the present password answers. */
  request: "postgres.setpoint.dev/rotation-request",
  /** When the present login was published. */
  since: "postgres.setpoint.dev/password-since",
} as const;

export interface RoleLogin {
  readonly user: string;
  readonly password: string;
}

/** What a Secret of the operator says. */
export interface GeneratedSecret {
  readonly secret: Stored<Secret>;
  /** What clients use. */
  readonly current?: RoleLogin | undefined;
  /** What they use as soon as the server has it. */
  readonly next?: RoleLogin | undefined;
  readonly request: string;
  readonly sinceMs: number;
}

export function secretNameOf({ metadata, spec }: PostgresRole): string {
  return spec.password?.secretName ?? metadata.name ?? "";
}

export function textIn({ data = {} }: Secret, key: string): string | undefined {
  const value = data[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}

export function readGenerated(secret: Stored<Secret>): GeneratedSecret {
  const annotations = secret.metadata.annotations ?? {};
  return {
    secret,
    current: loginIn(secret, ""),
    next: loginIn(secret, "next-"),
    request: annotations[marks.request] ?? "",
    sinceMs: Date.parse(annotations[marks.since] ?? "") || 0,
  };
}

function loginIn(secret: Secret, prefix: "" | "next-"): RoleLogin | undefined {
  const [user, password] = [textIn(secret, `${prefix}username`), textIn(secret, `${prefix}password`)];
  return user === undefined || password === undefined || password === "" ? undefined : { user, password };
}

/** Kept here before the server has it, so that each attempt sends the same password. */
export function nextEntries({ user, password }: RoleLogin): Readonly<Record<string, string>> {
  return { "next-username": encoded(user), "next-password": encoded(password) };
}

export function newSecret(role: PostgresRole, next: RoleLogin): Secret {
  const name = secretNameOf(role);
  const labels = { [passwordLabel]: "true", "postgres.setpoint.dev/cluster": role.spec.cluster };
  return Secret({ name, labels, type: "Opaque", data: nextEntries(next) });
}

/** The next login becomes the one that clients use. */
export function publication(
  role: PostgresRole,
  cluster: Stored<PostgresCluster>,
  { user, password }: RoleLogin,
  now: string,
): object {
  const { name, namespace } = cluster.metadata;
  const host = `${name}-rw.${namespace}.svc`;
  const dbname = cluster.spec.database?.name ?? "app";
  const uri = `postgresql://${user}:${password}@${host}:${postgresPort}/${dbname}?sslmode=require`;
  const entries = { username: user, password, host, port: String(postgresPort), dbname, uri };
  return {
    metadata: {
      annotations: { [marks.request]: role.spec.password?.rotation.request ?? "", [marks.since]: now },
    },
    data: {
      ...Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, encoded(value)])),
      "next-username": null,
      "next-password": null,
    },
  };
}

/** Who logs in next: the role itself, or the other one of its two logins. */
export function nextUser(role: PostgresRole, current: string | undefined): string {
  const name = roleNameOf(role);
  if (role.spec.password?.logins !== "alternating") return name;
  const [a, b] = alternatingLogins(name);
  return current === a ? b : a;
}

export function alternatingLogins(name: string): readonly [string, string] {
  return [`${name}_a`, `${name}_b`];
}

function encoded(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
