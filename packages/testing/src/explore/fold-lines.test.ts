import { expect, test } from "vitest";
import { folded } from "./fold-lines.ts";
import type { RunLine } from "./run-line.ts";

function line(atMs: number, text: string, kind: RunLine["kind"] = "did"): RunLine {
  return { atMs, who: kind === "did" || kind === "saw" ? "store" : "", kind, text };
}

function texts(lines: readonly RunLine[]): readonly string[] {
  return folded(lines).map(({ text }) => text);
}

test("a repeated event is one line with its count and its last time", () => {
  const lines = Array.from({ length: 6 }, (_, round) => [
    line(round * 1_000, "PATCH default/configmaps/a → 201"),
    line(round * 1_000 + 1, `saw configmaps/a modified (version ${200 + round})`, "saw"),
  ]).flat();
  expect(texts([line(0, "POST default/stores/a → 201"), ...lines])).toEqual([
    "POST default/stores/a → 201",
    "PATCH default/configmaps/a → 201",
    "saw configmaps/a modified (version 200)",
    "… 10 more of these 2 lines, until 5.001 s",
  ]);
});

test("what strikes and what breaks stays, in its place", () => {
  const again = [1, 2, 3, 4].map((atMs) => line(atMs, "PATCH default/configmaps/a → 500"));
  const fault = line(5, "B5 server busy or broken", "fault");
  const broken = line(9, 'breaks "converges"', "broken");
  const [first = "", more = ""] = texts(again);
  expect(more).toBe("… 3 more of this, until 0.004 s");
  expect(texts([...again, fault, fault, fault, ...again, broken])).toEqual(
    [first, more, fault, fault, fault, first, more, broken].map((each) =>
      typeof each === "string" ? each : each.text,
    ),
  );
});

test("different objects have different lines, and two events of an object have two", () => {
  const lines = ["a", "b", "c", "d", "e", "a", "a"].map((name, atMs) =>
    line(atMs, `DELETE default/pods/${name} → 200`),
  );
  expect(folded(lines)).toEqual(lines);
});
