/** Snapshots of roles for tests. */
import { Secret } from "setpoint/kinds";
import type { Stored } from "setpoint";
import { judgeCluster } from "../inner/served-cluster.ts";
import type { RoleFacts } from "../instance/inner-protocol.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { PostgresRole } from "./postgres-role.ts";
import { newSecret, nextEntries, publication, readGenerated, type RoleLogin } from "./role-secret.ts";
import type { SeenPassword, SeenRole } from "./role-seen.ts";
import { wantedRoles } from "./wanted-roles.ts";

/** When the login of `published` was published. */
export const publishedMs: number = Date.parse("2026-01-01T00:00:00Z");
export const hourMs = 3_600_000;

type Spec = Parameters<typeof PostgresRole>[0]["spec"];

function stored<T extends object>(object: T, uid: string): Stored<T & PostgresRole> {
  const { metadata } = object as { readonly metadata: object };
  // A builder gives what a server stores but for the metadata.
  return { ...object, metadata: { ...metadata, uid, namespace: "default", generation: 1 } } as never;
}

export function role(spec: Partial<Spec> = {}): Stored<PostgresRole> {
  return stored(PostgresRole({ name: "shop", namespace: "default", spec: { cluster: "orders", ...spec } }), "u1");
}

export function cluster(version: "15" | "17" = "15"): Stored<PostgresCluster> {
  const made = PostgresCluster({ name: "orders", namespace: "default", spec: { version, storage: { size: "1Gi" } } });
  const conditions = [{ type: "Available", status: "True" }];
  return { ...stored(made, "c1"), status: { primary: "orders-1", term: 3, conditions } } as never;
}

export function published(of: PostgresRole, current: RoleLogin, next?: RoleLogin): SeenPassword {
  const patch = publication(of, cluster(), current, new Date(publishedMs).toISOString()) as {
    readonly metadata: object;
    readonly data: Readonly<Record<string, string | null>>;
  };
  const data = Object.fromEntries(Object.entries(patch.data).filter(([, value]) => value !== null));
  const whole = { ...data, ...(next === undefined ? {} : nextEntries(next)) };
  const secret = Secret({ name: "shop", ...patch.metadata, data: whole as Record<string, string> });
  return { kind: "generated", ...readGenerated(stored(secret, "s1") as never) };
}

export function prepared(of: PostgresRole, next: RoleLogin): SeenPassword {
  return { kind: "generated", ...readGenerated(stored(newSecret(of, next), "s1") as never) };
}

/** PostgreSQL has what is wanted, but for the changes; null: it has no such role. */
export function seen(
  of: Stored<PostgresRole>,
  password: SeenPassword,
  nowMs: number,
  changes: Readonly<Record<string, Partial<RoleFacts> | null>> = {},
): SeenRole {
  const wanted = wantedRoles({ role: of, uid: "u1" }, password, nowMs);
  const roles = wanted.map(({ name, attributes, memberOf, verifier, actsAs }): [string, RoleFacts | null] => {
    if (changes[name] === null) return [name, null];
    const has = verifier === null ? "none" : "same";
    const holder = { uid: "u1", revision: 1 };
    const facts = { holder, isSuperuser: false, attributes, memberOf, password: has, actsAs: actsAs ?? null } as const;
    return [name, { ...facts, ...changes[name] }];
  });
  const answer = { roles: Object.fromEntries(roles), missingGroups: [], superuserGroups: [] };
  return { role: of, refusals: [], cluster: judgeCluster("orders", cluster()), password, wanted, answer };
}
