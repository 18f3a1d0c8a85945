import { describe, expect, test } from "vitest";
import type { Backup } from "../kinds/backup.ts";
import { comparePositions, expiredBackups, newestFirst } from "./retention.ts";

const nowMs = Date.parse("2026-06-30T12:00:00Z");

interface Sketch {
  readonly takenAt?: string;
  readonly position?: string;
  readonly phase?: "Succeeded" | "Failed" | "Running";
  readonly verified?: boolean;
}

function backup(name: string, { takenAt, position, phase = "Succeeded", verified = true }: Sketch = {}): Backup {
  const verifiedAt = verified && phase === "Succeeded" ? { verifiedAt: takenAt } : {};
  return {
    metadata: { name, creationTimestamp: takenAt ?? "2026-06-01T00:00:00Z" },
    status: { phase, takenAt, position, ...verifiedAt },
  } as Backup;
}

const day = (date: number): string => `2026-06-${String(date).padStart(2, "0")}T00:00:00Z`;
const names = (backups: readonly Backup[]): readonly string[] => backups.map(({ metadata }) => metadata.name ?? "");
const nobody: ReadonlySet<string> = new Set();

describe("retention", () => {
  // The names say the opposite of the times.
  const three = [
    backup("c", { takenAt: day(1), position: "9" }),
    backup("b", { takenAt: day(2), position: "10" }),
    backup("a", { takenAt: day(3), position: "11" }),
  ];

  test("keeps the newest by time, whatever the names are", () => {
    expect(names(expiredBackups(three, { keepLast: 1 }, nobody, nowMs))).toEqual(["b", "c"]);
    expect(names(expiredBackups(three, { keepLast: 2 }, nobody, nowMs))).toEqual(["c"]);
  });

  test("compares positions as numbers when the times are equal", () => {
    const same = [backup("a", { takenAt: day(1), position: "9" }), backup("b", { takenAt: day(1), position: "10" })];
    expect(names(newestFirst(same))).toEqual(["b", "a"]);
    expect(comparePositions("0/FFFFFFFF", "1/0")).toBe(-1);
    expect(comparePositions("16/B374D848", "16/B374D848")).toBe(0);
  });

  test("keeps what is young enough, and always the newest good one", () => {
    expect(names(expiredBackups(three, { keepFor: "1h" }, nobody, nowMs))).toEqual(["b", "c"]);
    expect(names(expiredBackups(three, { keepFor: "690h" }, nobody, nowMs))).toEqual(["c"]);
    expect(names(expiredBackups(three.slice(0, 1), { keepFor: "1h" }, nobody, nowMs))).toEqual([]);
  });

  test("keeps what either field names, and all without fields", () => {
    expect(names(expiredBackups(three, { keepLast: 1, keepFor: "690h" }, nobody, nowMs))).toEqual(["c"]);
    expect(expiredBackups(three, {}, nobody, nowMs)).toEqual([]);
  });

  test("counts only verified backups: newer ones that failed or run do not push a good one out", () => {
    const later = [
      backup("x", { takenAt: day(9), phase: "Failed" }),
      backup("y", { takenAt: day(9), phase: "Running" }),
      backup("z", { takenAt: day(9), verified: false }),
    ];
    expect(names(expiredBackups([...later, ...three], { keepLast: 3 }, nobody, nowMs))).toEqual([]);
  });

  test("keeps a backup that a restore reads", () => {
    expect(names(expiredBackups(three, { keepLast: 1 }, new Set(["b"]), nowMs))).toEqual(["c"]);
  });

  test("keeps three failed ones, and deletes older ones only when a newer good one is there", () => {
    const failed = [1, 2, 3, 4, 5].map((date) => backup(`f${date}`, { takenAt: day(date), phase: "Failed" }));
    expect(expiredBackups(failed, { keepLast: 1 }, nobody, nowMs)).toEqual([]);
    const good = backup("good", { takenAt: day(6) });
    expect(names(expiredBackups([...failed, good], { keepLast: 1 }, nobody, nowMs))).toEqual(["f2", "f1"]);
  });
});
