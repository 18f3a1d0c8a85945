import { CronJob } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { CronSchedule } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { missedRuns } from "./missed-runs.ts";
import { planCronJob, type SeenRun } from "./plan.ts";
import { zonedTimestamp } from "./zoned-timestamp.ts";

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const hourly = new CronSchedule("0 * * * *");

type Spec = Partial<NonNullable<CronJob["spec"]>>;
type Status = NonNullable<CronJob["status"]>;

function plan(spec: Spec, runs: readonly Partial<SeenRun>[], now: string, status: Status = {}) {
  const template = { spec: { template: { spec: { containers: [] } } } };
  const made = CronJob({ name: "night", spec: { schedule: "0 * * * *", jobTemplate: template, ...spec } });
  const metadata = { ...made.metadata, creationTimestamp: "2026-01-01T00:30:00Z" };
  const cronJob = { ...made, metadata, status } as Stored<CronJob>;
  const run = { name: "run", ended: undefined, startedMs: 0, completedMs: undefined, scheduledMs: undefined };
  return planCronJob({ cronJob, schedule: hourly, nowMs: at(now), runs: runs.map((each) => ({ ...run, ...each })) });
}

test.each<[string, Spec, readonly Partial<SeenRun>[], string, object]>([
  ["waits for its first time", {}, [], "00:50:00", { startMs: undefined, recheckMs: 600_000 }],
  ["starts at its time", {}, [], "01:00:00", { startMs: at("01:00:00"), recheckMs: 3_600_000 }],
  ["starts late when nothing ran then", {}, [], "01:20:00", { startMs: at("01:00:00") }],
  ["starts only the newest of those that it missed", {}, [], "05:20:00", { startMs: at("05:00:00"), events: [] }],
  ["leaves what it is too late for", { startingDeadlineSeconds: 60 }, [], "01:20:00", { startMs: undefined }],
  [
    "does not start while it is suspended",
    { suspend: true },
    [],
    "01:00:00",
    { startMs: undefined, recheckMs: undefined },
  ],
  ["starts a time once", {}, [{ scheduledMs: at("01:00:00") }], "01:20:00", { startMs: undefined }],
  [
    "starts beside another one",
    {},
    [{ scheduledMs: at("01:00:00") }],
    "02:00:00",
    { startMs: at("02:00:00"), remove: [] },
  ],
  [
    "waits for another one when it must",
    { concurrencyPolicy: "Forbid" },
    [{ scheduledMs: at("01:00:00") }],
    "02:00:00",
    { startMs: undefined, events: [{ reason: "JobAlreadyActive" }] },
  ],
  [
    "replaces another one when it may",
    { concurrencyPolicy: "Replace" },
    [{ name: "old", scheduledMs: at("01:00:00") }],
    "02:00:00",
    { startMs: at("02:00:00"), remove: ["old"] },
  ],
  [
    "keeps as many as its limits say",
    { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 },
    [
      { name: "a", ended: "Complete", startedMs: 1, completedMs: 5_000 },
      { name: "b", ended: "Complete", startedMs: 2, completedMs: 9_000 },
      { name: "c", ended: "Failed", startedMs: 3 },
    ],
    "00:50:00",
    { remove: ["a", "c"], lastSuccessMs: 9_000 },
  ],
])("a CronJob %s", (_, spec, runs, now, expected) => {
  expect(plan(spec, runs, now)).toMatchObject(expected);
});

test("Events tell how active Jobs ended, and which have gone", () => {
  const status = { active: [{ name: "a" }, { name: "b" }] };
  const { events } = plan({}, [{ name: "a", ended: "Failed" }], "00:50:00", status);
  expect(events.map(({ message }) => message)).toEqual([
    "Saw completed job: a, condition: Failed",
    "Active job went missing: b",
  ]);
});

test("years of missed minutes are counted at once", () => {
  const minutely = new CronSchedule("* * * * *");
  const now = at("12:34:56");
  expect(missedRuns(minutely, 0, now)).toEqual({ newestMs: at("12:34:00"), count: "too many" });
});

test("a time is written with the offset of its zone", () => {
  expect(zonedTimestamp(at("12:00:00"))).toBe("2026-01-01T12:00:00Z");
  expect(zonedTimestamp(at("12:00:00"), "Europe/Berlin")).toBe("2026-01-01T13:00:00+01:00");
  expect(zonedTimestamp(at("12:00:00"), "America/St_Johns")).toBe("2026-01-01T08:30:00-03:30");
  expect(zonedTimestamp(at("12:00:00"), "UTC")).toBe("2026-01-01T12:00:00Z");
});
