import { expect, test } from "vitest";
import { dueRun } from "./schedule.ts";

const berlin = "Europe/Berlin";
const at = (text: string): number => Date.parse(text);

function due(schedule: string, since: string, now: string, timeZone = "UTC"): string | undefined {
  const found = dueRun({ schedule, timeZone }, at(since), at(now));
  if (typeof found === "string") return found;
  return found.dueMs === undefined ? undefined : new Date(found.dueMs).toISOString();
}

test("a run is due at its time and not before", () => {
  expect(due("0 3 * * *", "2026-05-01T03:00:00Z", "2026-05-02T02:59:59Z")).toBeUndefined();
  expect(due("0 3 * * *", "2026-05-01T03:00:00Z", "2026-05-02T03:00:00Z")).toBe("2026-05-02T03:00:00.000Z");
});

test("of runs that were missed only the newest is due, after an hour or years", () => {
  expect(due("*/5 * * * *", "2026-05-01T00:00:00Z", "2026-05-01T01:02:00Z")).toBe("2026-05-01T01:00:00.000Z");
  expect(due("* * * * * *", "2020-01-01T00:00:00Z", "2026-05-01T00:00:00Z")).toBe("2026-05-01T00:00:00.000Z");
  expect(due("0 0 1 1 *", "2020-01-01T00:00:00Z", "2026-05-01T00:00:00Z")).toBe("2026-01-01T00:00:00.000Z");
});

test("a clock that was set back makes nothing due", () => {
  expect(due("* * * * *", "2026-05-01T12:00:00Z", "2026-05-01T11:00:00Z")).toBeUndefined();
});

test("a run in the hour that summer time leaves out happens after it, once", () => {
  expect(due("30 2 * * *", "2026-03-28T01:30:00Z", "2026-03-29T06:00:00Z", berlin)).toBe("2026-03-29T01:00:00.000Z");
  expect(due("30 2 * * *", "2026-03-29T01:00:00Z", "2026-03-29T23:00:00Z", berlin)).toBeUndefined();
});

test("a run in the hour that comes twice happens in the first one, once", () => {
  expect(due("30 2 * * *", "2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", berlin)).toBe("2026-10-25T00:30:00.000Z");
  expect(due("30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", berlin)).toBeUndefined();
  expect(due("30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", berlin)).toBe("2026-10-26T01:30:00.000Z");
});

test("an invalid line or time zone is reported in words", () => {
  expect(due("every day", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")).toContain(
    'Cannot use cron line "every day"',
  );
  expect(due("0 3 * * *", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z", "Mars/Base")).toContain("Mars/Base");
});
