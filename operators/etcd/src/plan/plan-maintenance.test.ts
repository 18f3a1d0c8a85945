/** What the plan does about space. */
import { expect, test } from "vitest";
import { a, b, c, cluster, type MemberSketch, nowMs, seen, step } from "./situation.fixture.ts";
import { defragmentationRun } from "./plan-maintenance.ts";
import { plan } from "./plan.ts";
import type { Situation } from "./situation.ts";

const now = "2026-01-01T00:10:00Z";
const loose: MemberSketch = { dbSizeMiB: 200, inUseMiB: 90 };
const alarmed: MemberSketch = { dbSizeMiB: 2_048, inUseMiB: 2_000, noSpace: true };
const freed: MemberSketch = { dbSizeMiB: 10, inUseMiB: 9, noSpace: true };
const full = [a(alarmed), b(alarmed), c(alarmed)];
const run = (reason: string, members: readonly string[], more: object = {}): Partial<Situation> => ({
  cluster: cluster({}, { defragmentation: { reason, started: "2026-01-01T00:09:00Z", members, ...more } }),
});

/** Hourly; the cluster is from the hour before. */
function hourly(status: object = {}): Partial<Situation> {
  const defragmentation = { schedule: "5 * * * *", whenFreePercent: 50, minDbSizeMiB: 100 };
  const scheduled = cluster({ maintenance: { defragmentation } }, status);
  return { cluster: { ...scheduled, metadata: { ...scheduled.metadata, creationTimestamp: "2025-12-31T23:30:00Z" } } };
}

test.each<[string, Situation, string]>([
  ["a follower is half empty", seen([a(), b(loose), c()]), "defragment b"],
  ["the leader is half empty too", seen([a(loose), b(), c(loose)]), "defragment c"],
  ["only the leader is half empty", seen([a(loose), b(), c()]), "defragment a"],
  ["a small file is empty", seen([a(), b({ dbSizeMiB: 99, inUseMiB: 1 }), c()]), "rest"],
  ["a file is less than half empty", seen([a(), b({ dbSizeMiB: 200, inUseMiB: 101 }), c()]), "rest"],
  ["it is no better after its turn", seen([a(), b(loose), c()], run("FreeSpace", ["b"])), "rest"],
  ["a member is silent", seen([a(), b(loose), c({ answers: false })]), "wait"],

  ["it is time by the schedule", seen([a(), b(), c()], hourly()), "defragment b"],
  [
    "it was done at that time",
    seen([a(), b(), c()], hourly({ lastScheduledDefragmentation: "2026-01-01T00:06:00Z" })),
    "rest",
  ],

  ["there is no space", seen(full), "compact"],
  ["the history is compacted", seen(full, run("NoSpace", [])), "defragment b"],
  ["all but the leader are done", seen(full, run("NoSpace", ["b", "c"])), "defragment a"],
  ["all have space again", seen([a(freed), b(freed), c(freed)], run("NoSpace", ["a", "b", "c"])), "disarm"],
  ["the data fill the quota", seen(full, run("NoSpace", ["a", "b", "c"])), "wait"],
  ["there is no space again", seen(full, run("NoSpace", ["a", "b", "c"], { finished: now })), "compact"],
  ["there is no space and a member is silent", seen([...full.slice(0, 2), c({ ...alarmed, answers: false })]), "wait"],
])("when %s, the step is right", (_, situated, expected) => {
  expect(step(situated)).toBe(expected);
});

function recorded(situated: Situation): ReturnType<typeof defragmentationRun> {
  return defragmentationRun(situated, plan(situated, nowMs), now);
}

test("a turn is recorded before it is taken, and the end when nothing is left to do", () => {
  expect(recorded(seen([a(), b(loose), c()]))).toEqual({ reason: "FreeSpace", started: now, members: ["b"] });
  expect(recorded(seen([a(), b(), c(loose)], run("FreeSpace", ["b"])))?.members).toEqual(["b", "c"]);
  expect(recorded(seen([a(), b(), c()], run("FreeSpace", ["b"])))?.finished).toBe(now);
  expect(recorded(seen(full))).toEqual({ reason: "NoSpace", started: now, members: [] });
  expect(recorded(seen([a(), b(), c()], hourly()))).toEqual({ reason: "Schedule", started: now, members: ["b"] });
});
