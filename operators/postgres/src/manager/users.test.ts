import { expect, test } from "vitest";
import { isVerifierOf, passwordVerifier } from "./inner-objects.ts";
import { createText, grantText } from "./users.ts";
import { parseDroppedUser, parseLogin, parseWantedUser } from "./parse-request.ts";

const database = { name: "app", owner: "shop" };

test("rights are first withdrawn and then granted, in one transaction", () => {
  const lines = grantText("sb-u-1", database, "readonly").split(";\n");
  expect([lines[0], lines.at(-1)]).toEqual(["begin", "commit"]);
  expect(lines.indexOf('revoke all on all tables in schema public from "sb-u-1"')).toBeLessThan(
    lines.indexOf('grant select on all tables in schema public to "sb-u-1"'),
  );
  expect(lines).toContain(
    'alter default privileges for role "shop" in schema public grant select on tables to "sb-u-1"',
  );
});

test("a user without a right in a database has none there, and an owner acts as the owner", () => {
  expect(grantText("u", database, undefined)).not.toContain("grant ");
  const owner = grantText("u", database, "owner");
  expect(owner).toContain('grant "shop" to "u"');
  expect(owner).toContain('alter role "u" in database "app" set role "shop"');
});

test("nobody loses the membership of the superuser, which nobody has", () => {
  expect(grantText("u", { name: "postgres", owner: "postgres" }, undefined)).not.toContain('revoke "postgres"');
});

test("a verifier of the same password is kept, because poolers log in with its salt", () => {
  const present = passwordVerifier("pencil", Buffer.alloc(16, 7));
  expect(isVerifierOf(present, "pencil")).toBe(true);
  expect(isVerifierOf(present, "crayon")).toBe(false);
  expect(isVerifierOf("", "pencil")).toBe(false);
});

test("names and verifiers cannot end their quotes", () => {
  const text = createText(`u"; drop role x; --`, "SCRAM'x");
  expect(text).toContain(`create role "u""; drop role x; --" login`);
  expect(text).toContain("password 'SCRAM''x'");
});

test.each([
  [() => parseWantedUser({ user: "u", password: "p", rights: [{ database: "a", access: "all" }] }), "owner, readwrite"],
  [() => parseWantedUser({ user: "u", rights: [] }), "Cannot read password"],
  [() => parseLogin({ user: "u", password: "p" }), "Cannot read database"],
  [() => parseDroppedUser({ heir: "h" }), "Cannot read user"],
])("what is no user is refused with the field", (parse, message) => {
  expect(parse).toThrow(message);
});
