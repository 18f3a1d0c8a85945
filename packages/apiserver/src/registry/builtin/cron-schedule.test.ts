import { expect, test } from "vitest";
import { scheduleProblem, zoneProblem } from "./cron-schedule.ts";

test.each(["* * * * *", "*/5 0-6,22 ? jan-MAR mon-fri", "0 0 31 2 *", "@hourly", "@every 1h", "5/10 * * * 0"])(
  "%s is a schedule",
  (schedule) => {
    expect(scheduleProblem(schedule)).toBeUndefined();
  },
);

test.each([
  ["61 * * * *", "end of range (61) above maximum (59): 61"],
  ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
  ["* * * * 7", "end of range (7) above maximum (6): 7"],
  ["9-5 * * * *", "beginning of range (9) beyond end of range (5): 9-5"],
  ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
  ["*/0 * * * *", "step of range should be a positive number: */0"],
  ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
  ["  ", "expected exactly 5 fields, found 0: []"],
  ["@every x", 'failed to parse duration @every x: time: invalid duration "x"'],
  ["*/-1 * * * *", "negative number (-1) not allowed: -1"],
  [
    "99999999999999999999 * * * *",
    'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
  ],
  ["@often", "unrecognized descriptor: @often"],
  ["TZ=UTC 0 0 * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"],
])("%s is none", (schedule, problem) => {
  expect(scheduleProblem(schedule)).toBe(problem);
});

test("a time zone has a name of the IANA", () => {
  expect(["Europe/Berlin", "UTC", "Etc/UTC"].map(zoneProblem)).toEqual([undefined, undefined, undefined]);
  expect(["Nowhere/Land", "+01:00", "europe/berlin"].map(zoneProblem)).toEqual([
    "unknown time zone Nowhere/Land",
    "unknown time zone +01:00",
    "unknown time zone europe/berlin",
  ]);
  expect(zoneProblem("Local")).toContain("timeZone must be an explicit time zone");
});
