import { expect, test } from "vitest";
import { lowerThan, withLeast } from "./server-limits.ts";

test("lowerThan() names the limits that a change lowers, and no other setting", () => {
  const parameters = { max_connections: "50", max_wal_senders: "30", work_mem: "1" };
  expect(lowerThan(parameters, { max_connections: 100, max_wal_senders: 20 })).toEqual(["max_connections"]);
  expect(lowerThan({ max_connections: "many" }, { max_connections: 100 })).toEqual([]);
  expect(lowerThan({ max_connections: "50" }, {})).toEqual([]);
});

test("withLeast() raises what is below the primary's, because a replica with less would not start", () => {
  expect(withLeast({ max_connections: "50", work_mem: "8MB" }, { max_connections: 100 })).toEqual({
    max_connections: "100",
    work_mem: "8MB",
  });
  expect(withLeast({ max_connections: "200" }, { max_connections: 100 })).toEqual({ max_connections: "200" });
});
