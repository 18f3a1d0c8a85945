import { expect, test } from "vitest";
import { isPausing, pauseMsMax, poolersFirst } from "./plan-pause.ts";
import { act } from "./postgres-step.ts";
import { cluster, primary, replica, seen } from "./situation.fixture.ts";

const atMs = Date.parse("2026-01-01T00:00:00Z");
const switchover = act("depose", { primary: "orders-1", handover: "switchover", candidate: "orders-2" }, "asked");
const failover = act("depose", { primary: "orders-1", handover: "failover" }, "gone");
const pausing = { for: "4", since: new Date(atMs).toISOString() };
const writers = { name: "pool", holdsWriters: true };

function situation(poolers: Parameters<typeof seen>[1], status: object = {}): ReturnType<typeof seen> {
  return seen([primary("orders-1"), replica("orders-2")], { ...poolers, cluster: cluster({}, { term: 3, ...status }) });
}

test.each([
  ["no pooler", {}, {}, 0, switchover],
  ["readers go on", { poolers: [{ name: "reads", holdsWriters: false }] }, {}, 0, switchover],
  ["all clients wait", { poolers: [{ ...writers, pausedFor: "4" }] }, { pausing }, 0, switchover],
  ["transactions last too long", { poolers: [writers] }, { pausing }, pauseMsMax, switchover],
])("%s: the primary hands over", (_, poolers, status, afterMs, step) => {
  expect(poolersFirst(situation(poolers, status), step, atMs + afterMs)).toBe(step);
});

test("clients wait before a switchover, with the reason", () => {
  const asked = poolersFirst(situation({ poolers: [writers] }), switchover, atMs);
  expect(asked).toMatchObject({ action: "pausePoolers", args: { next: "4" } });
  const waiting = poolersFirst(situation({ poolers: [{ ...writers, pausedFor: "3" }] }, { pausing }), switchover, atMs);
  expect(waiting).toMatchObject({ kind: "wait", reason: "pool: transactions end before orders-2 takes over" });
});

test("a failover waits for nobody", () => {
  expect(poolersFirst(situation({ poolers: [writers] }), failover, atMs)).toBe(failover);
});

test("a pause that was given up is asked for again", () => {
  const step = poolersFirst(situation({ poolers: [writers] }, { pausing }), switchover, atMs + 3 * pauseMsMax);
  expect(step).toMatchObject({ action: "pausePoolers" });
});

test("the pause ends when the former primary is deposed, or nothing is to be done", () => {
  const paused = situation({ poolers: [writers] }, { pausing });
  expect(isPausing(paused, poolersFirst(paused, switchover, atMs), atMs)).toBe(true);
  expect(isPausing(paused, switchover, atMs)).toBe(false);
  expect(isPausing(paused, { kind: "rest" }, atMs)).toBe(false);
});
