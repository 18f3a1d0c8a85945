import { expect, test } from "vitest";
import { judgeCluster } from "../inner/served-cluster.ts";
import { differencesOf, planRole, retiringLogin, rolesToChange } from "./plan-role.ts";
import { roleRefusals } from "./role-refusals.ts";
import type { SeenRole } from "./role-seen.ts";
import { cluster, hourMs, prepared, published, publishedMs, role, seen } from "./role-situation.fixture.ts";

const nowMs = publishedMs + 2 * hourMs;
const plain = role();
const generated = role({ password: {} });
const turns = role({ password: { logins: "alternating", rotation: { request: "two", overlap: "3h" } } });
const short = role({ password: { logins: "alternating", rotation: { request: "two", overlap: "1h" } } });
const one = { user: "shop", password: "one" };
const [a, b] = [
  { user: "shop_a", password: "one" },
  { user: "shop_b", password: "two" },
] as const;
const reported = role({ drift: "report", password: {} });

function textOf(situation: SeenRole, atMs = nowMs): string {
  const step = planRole(situation, atMs);
  if (step.kind === "act") return `${step.action} ${JSON.stringify(step.args)}`;
  return step.kind === "wait" ? `wait: ${step.reason}` : `rest ${step.stalled?.reason ?? ""}`.trim();
}

const attributes = { ...(seen(plain, { kind: "none" }, nowMs).wanted[0]?.attributes ?? ({} as never)) };

test.each<[string, SeenRole, string]>([
  ["as wanted", seen(plain, { kind: "none" }, nowMs), "rest"],
  ["no role", seen(plain, { kind: "none" }, nowMs, { shop: null }), 'changeRoles {"names":["shop"]}'],
  [
    "refused",
    { ...seen(plain, { kind: "none" }, nowMs), refusals: [{ field: "spec.role", why: "no" }] },
    "rest FieldsRefused",
  ],
  ["a Secret that may not be used", seen(generated, { kind: "refused", why: "label it" }, nowMs), "wait: label it"],
  ["no Secret yet", seen(generated, { kind: "absent" }, nowMs), 'preparePassword {"user":"shop"}'],
  [
    "no cluster",
    { ...seen(plain, { kind: "none" }, nowMs), cluster: judgeCluster("orders", undefined) },
    'wait: PostgresCluster "orders" does not exist',
  ],
  [
    "no answer",
    { ...seen(plain, { kind: "none" }, nowMs), answer: undefined, silence: "timeout" },
    'wait: the primary of PostgresCluster "orders" gives no answer: timeout',
  ],
  [
    "a role of another object",
    seen(plain, { kind: "none" }, nowMs, { shop: { holder: null } }),
    'wait: role "shop" exists already; set spec.adopt: true to take it over, or use another spec.role',
  ],
  [
    "the same, to be adopted",
    seen(role({ adopt: true }), { kind: "none" }, nowMs, { shop: { holder: null } }),
    'changeRoles {"names":["shop"]}',
  ],
  [
    "a superuser is not even adopted",
    seen(role({ adopt: true }), { kind: "none" }, nowMs, { shop: { isSuperuser: true } }),
    'wait: role "shop" is a superuser, which is never changed; use another spec.role',
  ],
  [
    "a group that does not exist",
    { ...seen(plain, { kind: "none" }, nowMs), answer: { roles: {}, missingGroups: ["later"], superuserGroups: [] } },
    "wait: spec.memberOf names roles that do not exist yet: later",
  ],
  [
    "a group of superusers",
    { ...seen(plain, { kind: "none" }, nowMs), answer: { roles: {}, missingGroups: [], superuserGroups: ["dba"] } },
    "wait: spec.memberOf: members of dba can do what a superuser can; remove it",
  ],
  [
    "a password that the server lacks, before it is published",
    seen(generated, prepared(generated, one), nowMs, { shop: { password: "other" } }),
    'changeRoles {"names":["shop"]}',
  ],
  [
    "a password that the server has",
    seen(generated, prepared(generated, one), nowMs),
    'publishPassword {"user":"shop"}',
  ],
  [
    "an old spec",
    seen(plain, { kind: "none" }, nowMs, { shop: { holder: { uid: "u1", revision: 0 } } }),
    'changeRoles {"names":["shop"]}',
  ],
  [
    "drift is repaired",
    seen(plain, { kind: "none" }, nowMs, { shop: { attributes: { ...attributes, createRole: true } } }),
    'changeRoles {"names":["shop"]}',
  ],
  [
    "drift is reported",
    seen(reported, published(reported, one), nowMs, { shop: { attributes: { ...attributes, createRole: true } } }),
    "rest",
  ],
  [
    "a password follows its Secret where drift is reported",
    seen(reported, published(reported, one), nowMs, { shop: { password: "other" } }),
    'changeRoles {"names":["shop"]}',
  ],
  ["the other login is next", seen(short, published(generated, a), nowMs), 'preparePassword {"user":"shop_b"}'],
])("%s", (_, situation, step) => {
  expect(textOf(situation)).toBe(step);
});

test("no third login is made while the one before works", () => {
  const during = publishedMs + hourMs;
  const situation = seen(turns, published(generated, b), during);
  expect(textOf(situation, during)).toBe(
    'wait: rotation "two" is requested, and the login before works until 2026-01-01T03:00:00.000Z',
  );
  expect(retiringLogin(situation, during)).toEqual({ user: "shop_a", until: "2026-01-01T03:00:00.000Z" });
});

test("the login before loses its password when its overlap has passed", () => {
  const later = publishedMs + 4 * hourMs;
  const [group, first, second] = seen(turns, published(turns, b), later).wanted;
  expect(group).toMatchObject({ name: "shop", attributes: { login: false }, verifier: null });
  expect(first).toMatchObject({ name: "shop_a", attributes: { login: false }, verifier: null, actsAs: "shop" });
  expect(second).toMatchObject({ name: "shop_b", attributes: { login: true } });
  const [, before] = seen(turns, published(turns, b), publishedMs + hourMs).wanted;
  expect(before?.attributes.login).toBe(true);
  expect(before).not.toHaveProperty("verifier");
});

test("where drift is reported, a new password leaves what was changed by hand", () => {
  const changes = { shop: { password: "other", attributes: { ...attributes, createRole: true } } } as const;
  const situation = seen(reported, published(reported, one), nowMs, changes);
  expect(rolesToChange(situation)[0]?.attributes.createRole).toBe(true);
  expect(differencesOf(situation)).toEqual([
    'role "shop": createRole is true, expected false',
    'role "shop": the password is another one, expected that of the Secret',
  ]);
});

test("no verifier and no password is in a step", () => {
  const situation = seen(generated, prepared(generated, one), nowMs, { shop: { password: "other" } });
  expect(JSON.stringify(planRole(situation, nowMs))).not.toMatch(/SCRAM|"one"/);
});

test.each([
  [role({ role: "postgres" }), "spec.role", /belongs to PostgreSQL/],
  [role({ role: "app" }), "spec.role", /is the owner of the cluster's database/],
  [role({ memberOf: ["pg_execute_server_program"] }), "spec.memberOf", /what a superuser can/],
  [role({ createRole: true }), "spec.createRole", /PostgreSQL 15/],
])("a role like %# is refused with its field", (refused, field, why) => {
  expect(roleRefusals(refused, cluster(), undefined)).toEqual([{ field, why: expect.stringMatching(why) }]);
});

test("PostgreSQL 17 keeps roles that may create roles from becoming superusers", () => {
  expect(roleRefusals(role({ createRole: true }), cluster("17"), undefined)).toEqual([]);
});

test("the younger of two objects about one role is refused", () => {
  expect(roleRefusals(plain, cluster(), "older")[0]?.why).toContain('PostgresRole "older" is older');
});
