import { expect, test } from "vitest";
import { databasesToImport } from "./data-import.ts";
import { type Membership, roleStatements, rolesToMake, type SourceRole } from "./role-statements.ts";

function role(name: string, more: Partial<SourceRole> = {}): SourceRole {
  const no = { login: false, createdb: false, createrole: false, replication: false, bypassrls: false };
  return { name, ...no, inherit: true, connectionLimit: -1, validUntil: null, password: null, settings: null, ...more };
}

const plain = "nologin inherit nocreatedb nocreaterole noreplication nobypassrls connection limit -1";

test.each<[string, SourceRole, string]>([
  ["a group", role("staff"), `create role "staff" ${plain};`],
  ["a quoted name", role('odd "one"'), `create role "odd ""one""" ${plain};`],
  [
    "a login",
    role("a", {
      login: true,
      connectionLimit: 3,
      validUntil: "2030-01-01T00:00:00+00:00",
      password: "SCRAM-SHA-256$4096:x",
    }),
    `create role "a" ${plain.replace("nologin", "login").replace("-1", "3")} valid until '2030-01-01T00:00:00+00:00' password 'SCRAM-SHA-256$4096:x';`,
  ],
  [
    "settings",
    role("a", { settings: ['search_path="$user", public', "app.note=it's a=b", "search_path="] }),
    `create role "a" ${plain};\nalter role "a" set "search_path" to "$user", public;\nalter role "a" set "app"."note" to 'it''s a=b';\nalter role "a" set "search_path" to '';`,
  ],
])("%s", (_, source, expected) => expect(roleStatements([source], [])).toBe(expected));

test("memberships of roles that are made, and of those that PostgreSQL has", () => {
  const memberships: readonly Membership[] = [
    { role: "a", member: "b", admin: true },
    { role: "pg_monitor", member: "a", admin: false },
    { role: "elsewhere", member: "a", admin: false },
    { role: "a", member: "postgres", admin: false },
  ];
  expect(
    roleStatements([role("a"), role("b")], memberships)
      .split("\n")
      .slice(2),
  ).toEqual(['grant "a" to "b" with admin option;', 'grant "pg_monitor" to "a";']);
});

test("roles of the operator are not made again", () => {
  const all = ["postgres", "streaming_replica", "a", "b"].map((name) => role(name));
  expect(rolesToMake(all, ["*"]).map(({ name }) => name)).toEqual(["a", "b"]);
  expect(rolesToMake(all, ["b"]).map(({ name }) => name)).toEqual(["b"]);
});

test("a database that does not exist is named with those that do", () => {
  expect(databasesToImport(["*"], ["a", "b"], "old:5432")).toEqual(["a", "b"]);
  expect(() => databasesToImport(["a", "c"], ["a", "b"], "old:5432")).toThrow(
    'spec.bootstrap.import.databases: old:5432 has no database "c" that clients may connect to; it has a, b',
  );
});
