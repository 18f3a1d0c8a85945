import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

function runFixture(...args: readonly string[]) {
  const fixture = new URL("./guard-rejections.fixture.ts", import.meta.url).pathname;
  return spawnSync(process.execPath, ["--conditions=@setpoint/source", fixture, ...args], { encoding: "utf8" });
}

test("24 2.7: an un-awaited refused write is logged, is on the object, and the process goes on", () => {
  const { status, stdout, stderr } = runFixture();
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout).toContain("still here");
  const log = stdout.split("\n").find((line) => line.includes("Reconcile failed"));
  expect(log).toContain('"controller":"candy"');
  expect(log).toContain('"object":"default/lolly"');
  expect(log).toMatch(
    /Cannot ignore the failure of apply\(\) of ConfigMap \\"with a space\\" \(.*guard-rejections\.fixture\.ts:\d+/,
  );
  expect(stdout).toMatch(
    /"type":"Ready","status":"False","reason":"ReconcileFailed","message":"Reconcile failed: Cannot ignore/,
  );
});

test("any other rejection that nothing handles still ends the process", () => {
  const { status, stderr } = runFixture("foreign");
  expect(status).toBe(1);
  expect(stderr).toContain("of another part");
});
