import { InvalidSnapshotError } from "@setpoint/data-service/agent";
import { expect, test } from "vitest";
import { isArchived, postgresLog } from "./postgres-log.ts";
import { restorePoint, segmentOf, commit } from "./log-segment.fixture.ts";

const name = "000000020000000000000003";
const atMs = Date.UTC(2026, 10, 27, 12);
const segment = segmentOf(3, [commit(744, atMs), restorePoint("before it", atMs + 1), commit(745, atMs + 2)]);

test("a segment says what it holds", () => {
  expect(postgresLog.read(name, segment)).toEqual({
    timeline: 2,
    start: "0/3000000",
    end: "0/4000000",
    endedAtMs: atMs + 2,
  });
  const finds = (kind: "name" | "transaction", value: string): unknown => postgresLog.finds?.(segment, { kind, value });
  expect([finds("transaction", "744"), finds("name", "before it")]).toEqual([true, true]);
  expect([finds("transaction", "746"), finds("name", "before")]).toEqual([false, false]);
});

test("what an earlier use of the file left behind its end counts for nothing", () => {
  const old = segmentOf(1, [commit(700, atMs + 9_000)]);
  const reused = Buffer.concat([segment.subarray(0, 8_192), old.subarray(0, 8_192), segment.subarray(16_384)]);
  expect(postgresLog.read(name, reused).endedAtMs).toBe(atMs + 2);
});

test("the bytes of another segment, or of none, are refused", () => {
  for (const bytes of [segmentOf(4, []), Buffer.alloc(16 << 20), segment.subarray(0, 1_000)])
    expect(() => postgresLog.read(name, bytes)).toThrow(InvalidSnapshotError);
});

test("a history file says where its timeline begins", () => {
  const text = "1\t0/3000148\tno recovery target specified\n\n2\t0/5000148\tbefore 2026-01-01\n";
  expect(postgresLog.fork?.("00000003.history", Buffer.from(text))).toEqual({
    timeline: 3,
    parent: 2,
    at: "0/5000148",
  });
  expect(() => postgresLog.fork?.("00000003.history", Buffer.from("nonsense"))).toThrow("where its timeline begins");
  expect(postgresLog.fork?.(name, segment)).toBeUndefined();
});

test("of what PostgreSQL hands over, segments and histories are archived", () => {
  expect([name, "00000003.history"].every(isArchived)).toBe(true);
  expect([`${name}.partial`, `${name}.00000028.backup`].some(isArchived)).toBe(false);
});
