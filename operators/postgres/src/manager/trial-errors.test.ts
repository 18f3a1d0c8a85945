import { expect, test } from "vitest";
import { trialErrors } from "./trial-errors.ts";

const file = "/run/setpoint/trial/postgresql.conf";

test("trialErrors() names the field, the value and what PostgreSQL expects", () => {
  const output = [
    `LOG:  invalid value for parameter "work_mem": "a lot"`,
    `LOG:  invalid value for parameter "wal_compression": "x"`,
    "HINT:  Available values: pglz, lz4, zstd, on, off.",
    `LOG:  1000000000 is outside the valid range for parameter "max_connections" (1 .. 262143)`,
    `LOG:  unrecognized configuration parameter "nonsense" in file "${file}" line 3`,
    `LOG:  invalid value for parameter "TimeZone": "Mars"`,
    `FATAL:  configuration file "${file}" contains errors`,
  ].join("\n");
  const parameters = { work_mem: "a lot", wal_compression: "x", max_connections: "1", nonsense: "3", timezone: "Mars" };
  expect(trialErrors(output, parameters)).toEqual([
    `spec.parameters[work_mem]: invalid value for parameter "work_mem": "a lot"`,
    `spec.parameters[wal_compression]: invalid value for parameter "wal_compression": "x"; Available values: pglz, lz4, zstd, on, off`,
    `spec.parameters[max_connections]: 1000000000 is outside the valid range for parameter "max_connections" (1 .. 262143)`,
    `spec.parameters[nonsense]: unrecognized configuration parameter "nonsense"`,
    `spec.parameters[timezone]: invalid value for parameter "TimeZone": "Mars"`,
  ]);
});

test("trialErrors() finds the field of what PostgreSQL says without naming a parameter", () => {
  const library = `FATAL:  could not access file "nope": No such file or directory`;
  expect(trialErrors(library, { work_mem: "1MB", shared_preload_libraries: "nope" })).toEqual([
    `spec.parameters[shared_preload_libraries]: could not access file "nope": No such file or directory`,
  ]);
  const pair = "postgres: superuser_reserved_connections (5) must be less than max_connections (3)";
  expect(trialErrors(pair, { max_connections: "3" })).toEqual([
    "spec.parameters[max_connections]: superuser_reserved_connections (5) must be less than max_connections (3)",
  ]);
  expect(trialErrors("", {})).toEqual(["spec.parameters: PostgreSQL would not start, and does not say why"]);
});
