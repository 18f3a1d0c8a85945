import { expect, test } from "vitest";
import { type Attempt, denied } from "../acts/act.ts";
import { catalogue } from "../acts/catalogue.ts";
import { parseReport, reportBytesMax, reportText } from "./probe-report.ts";

const long = new Map<string, Attempt>(catalogue.map(({ name }) => [name, denied("é".repeat(500))]));

test("a report is cut until it fits into a termination message, and keeps all verdicts", () => {
  const text = reportText(long, 4_096);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  const report = parseReport(text);
  expect([...(report ?? [])].map(([act, { verdict }]) => [act, verdict])).toEqual(
    catalogue.map(({ name }) => [name, "Denied"]),
  );
  expect(report?.get("mount")?.reason).toMatch(/^é+…$/);
});

test("a short report is kept as it is", () => {
  const attempts = new Map([["mount", denied("mount: EPERM")]]);
  expect(parseReport(reportText(attempts, reportBytesMax(6)))).toEqual(attempts);
});

test("all containers together stay below the limit of a pod", () => {
  expect([1, 3, 6].map((count) => reportBytesMax(count))).toEqual([4_096, 4_096, 2_048]);
});

test.each(["", "Error: no such file", '{"mount":["Maybe","?"]}'])("%j is no report", (text) => {
  expect(parseReport(text)).toBeUndefined();
});
