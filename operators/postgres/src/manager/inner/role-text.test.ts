import { expect, test } from "vitest";
import { scramVerifier } from "../../inner/password-verifier.ts";
import { passwordVerifier } from "../inner-objects.ts";
import { checkAddressee } from "./inner-requests.ts";
import { sentenceOf } from "./inner-sql.ts";
import { checkText } from "./held-objects.ts";
import { parseRoleChange } from "./parse-roles.ts";
import { changeText, factsText, groupsText, protectText } from "./role-text.ts";

const attributes = {
  ...{ login: true, createDatabase: false, createRole: false, inherit: true },
  ...{ connectionLimit: -1, validUntil: null },
};
const hostile = `u"; drop role x; --'`;

test("names, groups and verifiers cannot end their quotes", () => {
  const text = changeText({
    name: hostile,
    attributes,
    memberOf: [hostile],
    verifier: "SCRAM'x",
    actsAs: hostile,
  }).join("\n");
  expect(text).toContain(`create role "u""; drop role x; --'"`);
  expect(text).toContain(`rolname = 'u"; drop role x; --'''`);
  expect(text).toContain("password 'SCRAM''x'");
  expect(factsText({ name: hostile, attributes, memberOf: [] })).toContain(`rolname = 'u"; drop role x; --'''`);
});

test("superusers, and roles that PostgreSQL has from its start, are never changed", () => {
  expect(protectText("postgres")).toContain("rolname = 'postgres' and (rolsuper or rolreplication or oid < 16384)");
  expect(groupsText(["dba"])).toContain("pg_has_role(r.oid, 'pg_execute_server_program', 'member')");
});

test("a password is removed, set, or left alone", () => {
  const alter = (verifier?: string | null): string =>
    changeText({ name: "u", attributes, memberOf: [], ...(verifier === undefined ? {} : { verifier }) })[1] ?? "";
  expect(alter(null)).toMatch(/password null;$/);
  expect(alter("SCRAM")).toMatch(/password 'SCRAM';$/);
  expect(alter()).not.toContain("password");
});

test("the operator computes the verifier that the manager computes", () => {
  const salt = Buffer.alloc(16, 7);
  expect(scramVerifier("pencil", salt)).toBe(passwordVerifier("pencil", salt));
});

test("what belongs to another object is refused unless it is adopted", () => {
  const holder = { uid: "u1", revision: 4 };
  expect(checkText("role", "shop", { ...holder, adopts: false })).toContain("does not belong to this object");
  expect(checkText("role", "shop", { ...holder, adopts: true })).toContain("if false then");
});

test.each([
  ["another instance", { name: "b", desired: { term: 3 }, isPrimary: true }, /^This is b in term 3, and a in term 3/],
  ["an older term", { name: "a", desired: { term: 4 }, isPrimary: true }, /^This is a in term 4, and a in term 3/],
  ["without a lease", { name: "a", desired: { term: 3 }, isPrimary: false }, /^a does not accept writes/],
])("%s does nothing", async (_, { isPrimary, ...manager }, message) => {
  const asked = { ...manager, isPrimary: () => Promise.resolve(isPrimary) };
  await expect(checkAddressee({ primary: "a", term: 3 }, asked as never)).rejects.toThrow(message);
});

test("the primary in its term is asked", async () => {
  const manager = { name: "a", desired: { term: 3 }, isPrimary: () => Promise.resolve(true) };
  await expect(checkAddressee({ primary: "a", term: 3 }, manager as never)).resolves.toBeUndefined();
});

test("an error of psql is shown as PostgreSQL's sentence", () => {
  expect(sentenceOf('psql:<stdin>:12: ERROR:  role "x" does not exist')).toBe('role "x" does not exist');
});

test("a change without a term or with a wrong attribute is refused, and no value is repeated", () => {
  const role = { name: "u", attributes: { ...attributes, login: "secret" }, memberOf: [] };
  const holder = { uid: "u1", revision: 1, adopts: false };
  expect(() => parseRoleChange({ asked: { primary: "a" }, holder, roles: [] })).toThrow("Cannot read term");
  expect(() => parseRoleChange({ asked: { primary: "a", term: 1 }, holder, roles: [role] })).toThrow(
    /^Cannot read login: expected true or false$/,
  );
});
