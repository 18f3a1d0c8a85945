import { expect, test } from "vitest";
import { lookupTable } from "./lookup-table.ts";

test("lookupTable() finds its entries and nothing that objects inherit", () => {
  const table = lookupTable({ a: 1 });
  expect(table["a"]).toBe(1);
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) expect(table[name]).toBeUndefined();
});
