import { expect, test } from "vitest";
import { terminalLine } from "./terminal-line.ts";

test("a line for a terminal has the time, the level, the message and each field", () => {
  const fields = { object: "default/web", reason: "not ready", replicas: 2, left: undefined, labels: { app: "web" } };
  expect(terminalLine(0, "info", "Scaled down", fields, false)).toBe(
    '00:00:00.000 INFO  Scaled down object=default/web reason="not ready" replicas=2 labels={"app":"web"}',
  );
});

test("a line for a terminal prints an error below it, with its stack and its cause", () => {
  const error = new Error("Cannot apply Deployment", { cause: new Error("connection refused") });
  const [head, ...rest] = terminalLine(0, "error", "Reconcile failed", { error, key: "a/x" }, false).split("\n");
  expect(head).toBe("00:00:00.000 ERROR Reconcile failed key=a/x");
  expect(rest[0]).toBe("    Error: Cannot apply Deployment");
  expect(rest.join("\n")).toContain("terminal-line.test.ts");
  expect(rest.join("\n")).toContain("connection refused");
});

test("a line for a terminal colors the level", () => {
  expect(terminalLine(0, "warn", "Watch ended", {}, true)).toBe("00:00:00.000 \u001B[33mWARN \u001B[0m Watch ended");
});

test("a field that cannot be printed does not hide the line", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(terminalLine(0, "info", "A circle", { circle }, false)).toContain("A circle circle=(unprintable: TypeError");
});
