import { expect, test } from "vitest";
import { systemLogger } from "./system-logger.ts";

/** A sink with room or without. */
function sink() {
  const lines: { readonly message: string; readonly lines?: number; readonly unprintable?: string }[] = [];
  const state = { hasRoom: true };
  const write = (line: string): void => {
    if (!state.hasRoom) throw new Error("ENOSPC: no space left on device, write");
    lines.push(JSON.parse(line));
  };
  return { lines, state, log: systemLogger({ write }) };
}

test("a line that cannot be written is dropped, and the next one says how many were", () => {
  const { lines, state, log } = sink();
  log.info("Before");
  state.hasRoom = false;
  log.error("Refused a write");
  log.with({ kind: "Pod" }).warn("Refused another");
  state.hasRoom = true;
  log.info("After");
  log.info("Later");
  expect(lines.map(({ message }) => message)).toEqual(["Before", "Log lines could not be written", "After", "Later"]);
  expect(lines[1]?.lines).toBe(2);
});

test("fields that JSON cannot print do not take the line along", () => {
  const { lines, log } = sink();
  const circle: { self?: unknown } = {};
  circle.self = circle;
  log.info("A circle", { circle });
  const cause = new Error("its own cause");
  cause.cause = cause;
  log.info("A chain without an end", { error: cause });
  const toJSON = (): never => {
    throw new Error("no");
  };
  log.info("A field that throws", { field: { toJSON } });
  expect(lines.map(({ message }) => message)).toEqual(["A circle", "A chain without an end", "A field that throws"]);
  expect(lines[0]?.unprintable).toContain("circular");
});

test("lines for a terminal are readable", () => {
  const lines: string[] = [];
  const log = systemLogger({ write: (line) => void lines.push(line), now: () => 0, format: "terminal" });
  log.info("Scaled down", { replicas: 2 });
  expect(lines).toEqual(["00:00:00.000 INFO  Scaled down replicas=2\n"]);
});
