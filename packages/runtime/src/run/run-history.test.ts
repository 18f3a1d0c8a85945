import { expect, test } from "vitest";
import { RunHistory, type RunRecorder } from "./run-history.ts";

const remembered = 1_024;

function begin(history: RunHistory, key: string, startedMs = 0): RunRecorder {
  return history.begin({ key, reconcileID: `id of ${key}`, startedMs, causes: [], moreCauses: 0 });
}

test("what a run does after it was forgotten is no other run's", () => {
  const history = new RunHistory();
  const slow = begin(history, "default/slow");
  for (let i = 1; i < remembered; i++) begin(history, "default/other");
  begin(history, "default/next");
  slow.write("PATCH", "/late").resourceVersion = "7";
  slow.end({ end: "error", error: new Error("late"), retryDelayMs: 5 }, 9);
  expect(history.of("default/slow")).toEqual([]);
  expect(history.madeBy("7")).toBeUndefined();
  expect(history.latest("default/next")).toMatchObject({ writes: [], end: undefined, reason: undefined });
});

test("of a run its first writes, its end and its next try are remembered", () => {
  const history = new RunHistory();
  const run = begin(history, "default/first", 1);
  for (let i = 0; i <= 16; i++) run.write("PATCH", "/x");
  run.end({ end: "error", error: new Error("no"), retryDelayMs: 5 }, 2);
  expect(history.latest("default/first")).toMatchObject({ moreWrites: 1, reason: "no", endedMs: 2, retryAtMs: 7 });
});

test("runs are listed newest first, as they were at the call, back to the oldest remembered one", () => {
  const history = new RunHistory();
  expect(history.sinceMs).toBeUndefined();
  for (let i = 0; i < remembered + 3; i++) begin(history, i % 500 === 0 ? "default/asked" : "default/other", i);
  const asked = history.of("default/asked");
  expect(asked.map((run) => run.startedMs)).toEqual([1_000, 500]);
  expect(history.sinceMs).toBe(3);
  for (let i = 0; i < remembered; i++) begin(history, "default/other", 5_000);
  expect(asked.map((run) => run.startedMs)).toEqual([1_000, 500]);
});
