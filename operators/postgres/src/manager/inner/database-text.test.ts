import { expect, test } from "vitest";
import { contentsChangeText, createDatabaseText, holdersText } from "./database-text.ts";
import { parseDatabaseChange } from "./parse-databases.ts";

const database = {
  name: "stock",
  owner: "shop",
  connectionLimit: -1,
  creation: { encoding: "UTF8", template: "template1" },
  schemas: [],
  extensions: [],
};
const hostile = `x"; drop database y; --'`;

test("names and values cannot end their quotes", () => {
  const text = createDatabaseText({
    ...database,
    name: hostile,
    owner: hostile,
    creation: { encoding: hostile, template: hostile },
  });
  expect(text).toContain(`create database "x""; drop database y; --'" with owner "x""; drop database y; --'"`);
  expect(text).toContain(`encoding 'x"; drop database y; --'''`);
  expect(holdersText(hostile, false)).toContain(`datname = 'x"; drop database y; --'''`);
});

test("schemas come before extensions, and go after them", () => {
  const text = contentsChangeText({
    ...database,
    schemas: [
      { name: "old", isPresent: false, owner: "shop" },
      { name: "new", isPresent: true, owner: "shop" },
    ],
    extensions: [
      { name: "hstore", isPresent: false },
      { name: "citext", isPresent: true, schema: "new", version: "1.6" },
    ],
  });
  const order = ["create schema", "create extension", "alter extension", "drop extension", "drop schema", "commit"];
  const places = order.map((words) => text.indexOf(words));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});

test("a drop that ends sessions is not held back by them", () => {
  expect(holdersText("stock", true)).not.toContain("pg_stat_activity");
  expect(holdersText("stock", false)).toContain("pg_stat_activity");
});

test("a change of another release is refused with the field", () => {
  const holder = { uid: "u", revision: 1, adopts: false };
  const asked = { primary: "a", term: 1 };
  expect(parseDatabaseChange({ asked, holder, database }).database).toEqual(database);
  const { owner: _, ...without } = database;
  expect(() => parseDatabaseChange({ asked, holder, database: without })).toThrow("Cannot read owner: expected a text");
});
