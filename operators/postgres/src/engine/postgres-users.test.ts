import { expect, test } from "vitest";
import { cluster } from "../plan/situation.fixture.ts";
import { databaseRights } from "./postgres-users.ts";

test("a binding without rights acts as the owner of the application's database", () => {
  expect(databaseRights(cluster({ database: { name: "shop", owner: "shop" } }), {})).toEqual([
    { database: "shop", access: "owner" },
  ]);
});

test("rights name databases, and a word that is none is refused", () => {
  expect(databaseRights(cluster(), { app: "readonly", stock: "readwrite" })).toEqual([
    { database: "app", access: "readonly" },
    { database: "stock", access: "readwrite" },
  ]);
  expect(() => databaseRights(cluster(), { app: "all" })).toThrow('rights["app"] "all": expected owner, readwrite');
});
