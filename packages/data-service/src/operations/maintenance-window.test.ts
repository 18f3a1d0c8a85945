import { expect, test } from "vitest";
import { isOpen, type MaintenanceWindow, windowRefusal, windowState } from "./maintenance-window.ts";

const nightly: MaintenanceWindow = { schedule: "0 2 * * *", duration: "2h" };
const berlin: MaintenanceWindow = { ...nightly, timeZone: "Europe/Berlin" };
const at = (text: string): number => Date.parse(text);

test.each([
  ["2026-01-10T01:59:59Z", false],
  ["2026-01-10T02:00:01Z", true],
  ["2026-01-10T03:59:59Z", true],
  ["2026-01-10T04:00:01Z", false],
])("a window from 2 to 4 at %s is open: %s", (moment, open) => {
  expect(isOpen([nightly], at(moment))).toBe(open);
});

test.each([
  ["in winter", "2026-01-10T01:30:00Z", true],
  ["in winter", "2026-01-10T03:30:00Z", false],
  ["in summer", "2026-07-10T00:30:00Z", true],
  ["in summer", "2026-07-10T02:30:00Z", false],
])("a window of Berlin follows the clock there %s at %s: %s", (_season, moment, open) => {
  expect(isOpen([berlin], at(moment))).toBe(open);
});

test("a night whose window's hour does not exist has a window all the same", () => {
  // Clocks go from 2:00 to 3:00 on this night.
  const night = at("2026-03-29T00:00:00Z");
  const minutes = Array.from({ length: 360 }, (_, minute) => night + minute * 60_000);
  expect(minutes.some((moment) => isOpen([berlin], moment))).toBe(true);
});

test("without windows it is always open", () => {
  expect(windowState([], at("2026-01-10T12:00:00Z"))).toEqual({ open: true });
});

test("several windows: the last to close and the first to open count", () => {
  const windows = [nightly, { schedule: "0 3 * * 6", duration: "6h" }];
  expect(windowState(windows, at("2026-01-10T03:30:00Z"))).toEqual({ open: true, untilMs: at("2026-01-10T09:00:00Z") });
  expect(windowState(windows, at("2026-01-10T12:00:00Z"))).toEqual({
    open: false,
    untilMs: at("2026-01-11T02:00:00Z"),
  });
});

test("an invalid window is refused with its place", () => {
  expect(windowRefusal([nightly])).toBe(undefined);
  expect(windowRefusal([nightly, { ...nightly, timeZone: "Mars/Olympus" }])).toMatch(/^maintenance window 1: .*Mars/);
});
