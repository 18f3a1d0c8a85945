import { expect, test } from "vitest";
import { RunLedger } from "./run-ledger.ts";

const remembered = 1_024;

function begin(ledger: RunLedger, key: string, startedMs = 0): number {
  return ledger.begin({ key, reconcileID: `id of ${key}`, startedMs, causes: [], moreCauses: 0 });
}

test("a run that is forgotten takes no more notes: its place is another run's by then", () => {
  const ledger = new RunLedger();
  const slow = begin(ledger, "default/slow");
  for (let i = 1; i < remembered; i++) begin(ledger, "default/other");
  begin(ledger, "default/next");
  ledger.write(slow, "PATCH", "/late").resourceVersion = "7";
  ledger.end(slow, { end: "error", error: new Error("late"), retryDelayMs: 5 }, 9);
  expect(ledger.of("default/slow")).toEqual([]);
  expect(ledger.madeBy("7")).toBeUndefined();
  expect(ledger.latest("default/next")).toMatchObject({ writes: [], end: undefined, reason: undefined });
});

test("nothing of the run before is left in its place", () => {
  const ledger = new RunLedger();
  const first = begin(ledger, "default/first", 1);
  for (let i = 0; i <= 16; i++) ledger.write(first, "PATCH", "/x");
  ledger.end(first, { end: "error", error: new Error("no"), retryDelayMs: 5 }, 2);
  expect(ledger.latest("default/first")).toMatchObject({ moreWrites: 1, reason: "no", endedMs: 2, retryAtMs: 7 });
  const blank = new RunLedger();
  begin(blank, "default/again", 3);
  for (let i = 1; i < remembered; i++) begin(ledger, "default/other");
  const again = begin(ledger, "default/again", 3);
  expect(ledger.of("default/again")).toEqual([{ ...blank.latest("default/again"), run: again }]);
});

test("runs are told the newest first, as they were when somebody asked, since the oldest that is remembered", () => {
  const ledger = new RunLedger();
  expect(ledger.sinceMs).toBeUndefined();
  for (let i = 0; i < remembered + 3; i++) begin(ledger, i % 500 === 0 ? "default/asked" : "default/other", i);
  const told = ledger.of("default/asked");
  expect(told.map(({ startedMs }) => startedMs)).toEqual([1_000, 500]);
  expect(ledger.sinceMs).toBe(3);
  for (let i = 0; i < remembered; i++) begin(ledger, "default/other", 5_000);
  expect(told.map(({ startedMs }) => startedMs)).toEqual([1_000, 500]);
});
