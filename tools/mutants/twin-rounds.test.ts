import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { firstSeedOf, type TwinRun, TwinRounds } from "./twin-rounds.ts";

const ids = ["M1", "M2"];

function finished({ id, round }: TwinRun): Parameters<TwinRounds["finish"]>[0] {
  return { id, round, schedules: 100, alarms: [] };
}

test("each round runs each twin once, from other seeds, until there are enough schedules", () => {
  const rounds = new TwinRounds({ ids, schedules: 300 });
  const runs: TwinRun[] = [];
  for (let run = rounds.next(); run !== undefined; run = rounds.next()) {
    runs.push(run);
    rounds.finish(finished(run));
  }
  expect(runs).toEqual([
    { id: "M1", round: 0 },
    { id: "M2", round: 0 },
    { id: "M1", round: 1 },
  ]);
  expect(new Set(runs.map(({ round }) => firstSeedOf(round))).size).toBe(2);
});

test("a campaign that was stopped goes on with what was not finished, and counts what was", () => {
  const folder = mkdtempSync(join(tmpdir(), "twins-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const progress = join(folder, "new", "twins.jsonl");
  const stopped = new TwinRounds({ ids, schedules: 400, progress });
  expect(stopped.next()).toEqual({ id: "M1", round: 0 });
  const second = stopped.next();
  if (second !== undefined) stopped.finish(finished(second));

  const next = new TwinRounds({ ids, schedules: 400, progress });
  expect(next.finished).toEqual([finished({ id: "M2", round: 0 })]);
  expect(next.next()).toEqual({ id: "M1", round: 0 });
  expect(next.next()).toEqual({ id: "M1", round: 1 });
});
