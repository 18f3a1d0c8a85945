import { expect, test } from "vitest";
import { formatAge, formatHumanDuration } from "./age.ts";
import { formatDuration, parseDuration } from "./duration.ts";

test.each([
  ["0", 0],
  ["0s", 0],
  ["1h30m", 5_400_000],
  ["1.5s", 1500],
  ["-2m", -120_000],
  ["300ms", 300],
  ["1us", 0.001],
  ["1µs", 0.001],
  ["+5s", 5000],
])("%s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ["", 'time: invalid duration ""'],
  ["3", 'time: missing unit in duration "3"'],
  ["3x", 'time: unknown unit "x" in duration "3x"'],
  ["s", 'time: invalid duration "s"'],
])("%j is refused as Go refuses it", (text, message) => {
  expect(() => parseDuration(text)).toThrow(new Error(message));
});

test.each([
  [0, "0s"],
  [5_400_000, "1h30m0s"],
  [90_000, "1m30s"],
  [1500, "1.5s"],
  [300, "300ms"],
  [0.001, "1µs"],
  [-1000, "-1s"],
])("%d ms is written %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

const second = 1000;
const hour = 3_600_000;

test.each([
  [-5 * second, "<invalid>"],
  [-1 * second, "0s"],
  [119 * second, "119s"],
  [120 * second, "2m"],
  [330 * second, "5m30s"],
  [600 * second, "10m"],
  [3 * hour, "3h"],
  [3.5 * hour, "3h30m"],
  [9.5 * hour, "9h"],
  [76 * hour, "3d4h"],
  [9 * 24 * hour, "9d"],
  [770 * 24 * hour, "2y40d"],
  [3000 * 24 * hour, "8y"],
])("%d ms ago reads %s in a table", (ms, text) => {
  expect(formatHumanDuration(ms)).toBe(text);
});

test("an object without a time has an unknown age", () => {
  expect(formatAge(null, 0)).toBe("<unknown>");
  expect(formatAge("1970-01-01T00:00:00Z", 90_000)).toBe("90s");
});
